import { describe, expect, it } from 'vitest';
import type { Log } from '../../lib/log.ts';
import { type Allowance, RequestLimit } from '../../lib/request-limit.ts';

/** Half a minute into a window. */
const startMs = Math.floor(Date.UTC(2026, 10, 30) / 60_000) * 60_000 + 30_000;

/** A common count that may break, and processes over it. */
function setUp(perMinute: number) {
  const at = { nowMs: startMs, calls: 0, broken: null as Error | null };
  const totals = new Map<string, number>();
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const counts = {
    async add(owner: string, window: number, count: number) {
      at.calls++;
      await Promise.resolve();
      if (at.broken !== null) throw at.broken;
      const key = `${owner} ${window}`;
      const total = (totals.get(key) ?? 0) + count;
      totals.set(key, total);
      return total;
    },
  };
  const process = () => new RequestLimit(perMinute, { counts, clock: { nowMs: () => at.nowMs }, log });
  return { at, logged, process };
}

const times = async (n: number, limit: RequestLimit, owner = 'acme') => {
  const taken: Allowance[] = [];
  for (let i = 0; i < n; i++) taken.push(await limit.take(owner));
  return taken.filter(({ allowed }) => allowed).length;
};

describe('a limit of requests', () => {
  it('is one for all processes, each owner’s own, new with each minute, and asks for one lease in twenty requests', async () => {
    const { at, process } = setUp(6_000);
    const processes = [process(), process(), process()];
    expect(await Promise.all(processes.map((limit) => times(1_000, limit)))).toEqual([1_000, 1_000, 1_000]);
    expect(at.calls).toBe(150);
    expect((await Promise.all(processes.map((limit) => times(1_500, limit)))).reduce((a, b) => a + b)).toBe(3_000);
    // Those that were refused asked once more each, and then no more.
    expect(at.calls).toBeLessThanOrEqual(303);
    expect(await processes[0]?.take('acme')).toEqual({ allowed: false, left: 0, resetMs: 30_000 });
    expect(await processes[0]?.take('bolt')).toEqual({ allowed: true, left: 5_999, resetMs: 30_000 });
    at.nowMs += 30_000;
    expect(await processes[0]?.take('acme')).toEqual({ allowed: true, left: 5_999, resetMs: 60_000 });
  });

  it.each([1, 2, 7, 299, 301])('of %i is kept to the request, also by many at once', async (perMinute) => {
    const { at, process } = setUp(perMinute);
    const limit = process();
    const taken = await Promise.all(Array.from({ length: perMinute + 50 }, () => limit.take('acme')));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(perMinute);
    expect(taken.every(({ left }) => left >= 0 && left < perMinute)).toBe(true);
    // The first asks for itself, the second time for all who wait.
    expect(at.calls).toBeLessThanOrEqual(2);
  });

  it('T108 lets each process count alone, with the same limit, while the count can not be had, and says so once a minute', async () => {
    const { at, logged, process } = setUp(100);
    const processes = [process(), process()];
    at.broken = new Error('slow');
    expect(await Promise.all(processes.map((limit) => times(150, limit)))).toEqual([100, 100]);
    // A lease is asked for once in ten seconds, not by each request.
    expect(at.calls).toBe(2);
    for (let i = 0; i < 5; i++) {
      at.nowMs += 10_000;
      await times(3, processes[0] as RequestLimit);
    }
    expect([at.calls, logged]).toEqual([7, ['request_limit_alone', 'request_limit_alone']]);
    at.nowMs += 10_000;
    await times(3, processes[0] as RequestLimit);
    expect(logged).toHaveLength(3);
    at.broken = null;
    at.nowMs += 10_000;
    expect(await processes[0]?.take('acme')).toMatchObject({ allowed: true });
    expect(at.calls).toBe(9);
  });

  it('T108 uses a lease to its end when the next can not be had, and what was used counts on', async () => {
    const { at, process } = setUp(600);
    const limit = process();
    await limit.take('acme');
    at.broken = new Error('away');
    expect(await times(700, limit)).toBe(599);
  });
});
