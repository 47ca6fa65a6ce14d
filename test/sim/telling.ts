import { noLimits } from '../../lib/accounts.ts';
import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import { registeredEndpoints } from './audience.ts';
import type { Dice } from './dice.ts';
import { DueSetWatch } from './due-set-watch.ts';
import type { Telling } from './event-doors.ts';
import { MemoryDeliveries, MemoryEndpoints } from './memory-event-stores.ts';
import { NewsWatch } from './news-watch.ts';
import type { Referee } from './referee.ts';
import type { SetSide } from './set-side.ts';
import type { StoreWatch } from './store-watch.ts';
import type { Breaks } from './world.ts';

export interface TellingParts {
  dice: Dice;
  referee: Referee;
  lease: LeaseSettings;
  breaks: Breaks;
  /** `nowMs` is Redis' clock, `trueMs` the world's. */
  clocks: { nowMs: () => number; trueMs: () => number };
  store: StoreWatch;
  /** When an active job is looked at next; see NewsWatchPorts. */
  dueAtMs: (id: string) => number | null;
  /** Starts deliver. */
  wake: () => void;
}

/** The world's part that hears of jobs, over the set of events. */
export function tellingOf(side: SetSide, parts: TellingParts): Telling {
  const { dice, referee, lease, breaks, clocks, store, dueAtMs, wake } = parts;
  const memory = new MemoryDeliveries(dice.fork('pages').whole(1, 4));
  return {
    set: new DueSetWatch(side, { ...lease, limits: noLimits }, referee, clocks),
    deliveries: breaks.deliveries?.(memory) ?? memory,
    memory,
    endpoints: new MemoryEndpoints(registeredEndpoints),
    watch: new NewsWatch({
      ...{ referee, trueMs: clocks.trueMs, dueAtMs },
      jobs: () => store.all,
      deliveries: () => memory.all,
    }),
    newsOf: new WeakMap(),
    broken: breaks.news ?? ((news) => news),
    wakeDeliver: wake,
  };
}
