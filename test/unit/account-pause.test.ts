import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type PausePorts,
  pauseAccount,
  type RecordedPause,
  restorePause,
  resumeAccount,
} from '../../lib/account-pause.ts';
import { type Paused, readAccountState } from '../../lib/account-state.ts';
import type { AccountOverview } from '../../lib/account-view.ts';
import { startMs } from '../support/jobs.ts';

/* Whatever order the calls of several processes come in: in the end record and due set say the same. */

/** A record and a due set, each of whose calls takes effect when the scheduler says so. */
function setUp(scheduler: fc.Scheduler, before: { recorded: RecordedPause | null; inSet: RecordedPause | null }) {
  const now = { ...before };
  const call = async <T>(name: string, effect: () => T): Promise<T> => {
    await scheduler.schedule(Promise.resolve(), `${name} goes out`);
    const reply = effect();
    await scheduler.schedule(Promise.resolve(), `${name} is answered`);
    return reply;
  };
  const overviewNow = (): AccountOverview => {
    const text = now.inSet?.paused ? `${now.inSet.paused} ${now.inSet.sinceMs}` : '';
    return { nowMs: startMs, state: readAccountState({ paused: text }, startMs), inFlight: 0, waiting: 0, dueLagMs: 0 };
  };
  const ports: PausePorts & { view: { overview(): Promise<AccountOverview> } } & Parameters<typeof resumeAccount>[0] = {
    pauses: {
      read: () => call('read', () => now.recorded),
      write: (_, paused, sinceMs) =>
        call('write', () => {
          if (now.recorded?.paused !== paused) now.recorded = { paused, sinceMs };
          return now.recorded as RecordedPause;
        }),
    },
    view: {
      overview: () => call('overview', overviewNow),
      setPaused: (_, pause) =>
        call('set', () => {
          now.inSet = pause;
          return overviewNow();
        }),
    },
    clock: { nowMs: () => startMs },
    queues: new Map(),
  };
  return { now, ports };
}

type Act = Paused | 'resume' | 'sweep';

test('pauses, resumes and sweeps in any order of their calls end with a due set that says what the record says', async () => {
  const said = fc.option(
    fc.record({ paused: fc.constantFrom<Paused | null>('all', 'creates', null), sinceMs: fc.constant(startMs - 1) }),
  );
  const acts = fc.array(fc.constantFrom<Act>('all', 'creates', 'resume', 'sweep'), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), said, said, acts, async (scheduler, recorded, inSet, given) => {
      const { now, ports } = setUp(scheduler, { recorded, inSet });
      const ran = given.map((act) => {
        if (act === 'sweep') return restorePause(ports, 'sume');
        return act === 'resume' ? resumeAccount(ports, 'sume') : pauseAccount(ports, 'sume', act);
      });
      await scheduler.waitFor(Promise.all(ran));
      // Where there is no record, nothing was changed.
      const expected = now.recorded === null ? inSet?.paused : now.recorded.paused;
      expect(now.inSet?.paused ?? null).toBe(expected ?? null);
    }),
    { numRuns: 2_000 },
  );
});
