import type { AccountLimits } from '../../lib/accounts.ts';
import type { LeaseSettings } from '../../lib/due-set/upstash-due-set.ts';
import type { DueSet } from '../../lib/ports.ts';
import { MemoryDueSet } from './memory-due-set.ts';
import type { DueSetState } from './memory-sets.ts';

/** The due set under simulation, with the hooks that only the simulation has. Nothing in it takes virtual time. */
export interface SetSide {
  readonly dueSet: DueSet;
  /** What it holds after the last call: live. */
  readonly state: DueSetState;
  /** A copy of that. */
  save(): DueSetState;
  /** Another state, from one moment to the next: wiped, or rolled back. */
  load(state: DueSetState): Promise<void>;
}

/** How a side is made: on the set's own clock, ms; `differs` hears of a call that two implementations answered differently. */
export type MakeSetSide = (
  nowMs: () => number,
  settings: LeaseSettings & { limits: AccountLimits },
  differs: (what: string) => void,
) => Promise<SetSide>;

export const memorySide: MakeSetSide = async (nowMs, { limits, ...lease }) => {
  const dueSet = new MemoryDueSet(nowMs, lease, limits);
  return {
    dueSet,
    get state() {
      return dueSet.state;
    },
    save: () => dueSet.save(),
    load: async (state) => dueSet.load(state),
  };
};
