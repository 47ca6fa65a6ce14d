import type { Part } from './part.ts';
import { prices } from './prices.ts';

/** The cheaper of pay as you go and the fixed plan, for so many commands a month. */
export function redisPart(what: string, commands: number, how: string): Part {
  const { dollars, per } = prices.redisCommand;
  return (commands / per) * dollars <= prices.redisFixed.dollars
    ? { what, price: 'redisCommand', quantity: commands, how }
    : { what, price: 'redisFixed', quantity: 1, how: `${how}, for which the fixed plan costs less` };
}
