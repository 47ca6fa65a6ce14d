import { DueSetError, JobStoreError } from '../../lib/errors.ts';
import type { Reply } from './network.ts';
import type { Route, Weather } from './weather.ts';

/** Sends a call over a route; resolves with what comes of it, never when the caller dies first. */
export type SendCall = <T>(route: Route, what: string, execute: () => Promise<T>) => Promise<Reply<T>>;

/** What an adapter makes of a call: its value, or its error. */
export type Ask = <T>(what: string, execute: () => Promise<T>) => Promise<T>;

export function askRedis(send: SendCall, route: 'dueSet' | 'events', weather: Weather): Ask {
  return async (what, execute) => {
    const reply = await send(route, what, execute);
    if (reply.kind === 'none') {
      const code = weather.isPlanUsedUp ? 'limit' : reply.why === 'timeout' ? 'timeout' : 'unreachable';
      throw new DueSetError(code, reply.why);
    }
    return resultOf(reply);
  };
}

export function askStore(send: SendCall, route: 'storeRead' | 'storeWrite'): Ask {
  return async (what, execute) => {
    const reply = await send(route, what, execute);
    if (reply.kind === 'none') throw new JobStoreError(reply.why);
    return resultOf(reply);
  };
}

function resultOf<T>(reply: Exclude<Reply<T>, { kind: 'none' }>): T {
  if (reply.kind === 'thrown') throw reply.error;
  return reply.value;
}
