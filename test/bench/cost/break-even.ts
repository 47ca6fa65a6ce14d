import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';
import { drainMonthOf } from './month.ts';
import { prices } from './prices.ts';

/** Nobody renders more than this in a day: what is not reached by then is never. */
const rendersPerDayMax = 1_000_000;
const stepRatio = 1.1;

/** Renders a day, both ends included; `to` is null for one without an end. */
export interface Range {
  from: number;
  to: number | null;
}

/** Where it holds. Ranges so narrow that they lie between two looks, a tenth apart, are missed. */
export function rangesWhere(holds: (rendersPerDay: number) => boolean): Range[] {
  const ranges: Range[] = [];
  let [before, held] = [0, holds(0)];
  let from = held ? 0 : Number.NaN;
  for (let next = 1; next <= rendersPerDayMax; next = Math.ceil(next * stepRatio)) {
    if (holds(next) !== held) {
      const last = lastLike(holds, before, next);
      if (held) ranges.push({ from, to: last });
      else from = last + 1;
      held = !held;
    }
    before = next;
  }
  return held ? [...ranges, { from, to: null }] : ranges;
}

/** The last number from `like` on, and before `unlike`, that is as `like` is. */
function lastLike(holds: (rendersPerDay: number) => boolean, like: number, unlike: number): number {
  const wanted = holds(like);
  let [good, bad] = [like, unlike];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (holds(middle) === wanted) good = middle;
    else bad = middle;
  }
  return good;
}

export interface RedisPlans {
  /** Commands a month of the free plan, and renders a day that it lasts for. */
  freeCommands: number;
  freeRendersPerDay: number;
  /** Up to where pay as you go costs less than the fixed plan. */
  fixedCommands: number;
  fixedRendersPerDay: number;
  /** What a month needs in which a drain never sleeps. */
  mostCommands: number;
}

export function redisPlans(figures: CostFigures, deployed: Deployed): RedisPlans {
  const { redisCommand, redisFixed } = prices;
  const monthOf = (rendersPerDay: number) => drainMonthOf(rendersPerDay, figures, deployed);
  const freeCommands = redisCommand.free?.units ?? 0;
  const fixedCommands = (redisFixed.dollars / redisCommand.dollars) * redisCommand.per;
  const upTo = (commands: number) => {
    const [range] = rangesWhere((rendersPerDay) => monthOf(rendersPerDay).commands <= commands);
    return range === undefined ? 0 : (range.to ?? rendersPerDayMax);
  };
  const { commands, submitCommands } = monthOf(100_000);
  return {
    freeCommands,
    freeRendersPerDay: upTo(freeCommands),
    fixedCommands,
    fixedRendersPerDay: upTo(fixedCommands),
    mostCommands: commands - submitCommands,
  };
}
