import { isDeepStrictEqual } from 'node:util';
import { dueSetKeys } from '../../lib/due-set/keys.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import type { DueSet } from '../../lib/ports.ts';
import { membersOf, type TestUpstash } from '../support/upstash.ts';
import { type DueSetState, type MemoryBreaker, MemoryDueSet } from './memory-due-set.ts';
import type { MakeSetSide } from './set-side.ts';

/** Real time, ms: a real Redis that needs this long for one call is no fault that the seed planned. */
const timeoutMs = 20_000;
const account = 'sume';

/**
 * The real scripts on a real Redis, through the bridge and the real client, beside the due set in memory: each call goes
 * to both, and what they answer and hold must be the same.
 */
export function redisSide(upstash: TestUpstash, stage: string): MakeSetSide {
  return async (nowMs, lease, differs) => {
    const { url, token } = upstash;
    const keys = dueSetKeys(stage, account);
    const real = new UpstashDueSet(connectUpstash({ url, token, timeoutMs }), {
      ...{ stage, account, url, token, lease, nowMs },
    });
    const model = new MemoryDueSet(nowMs, lease);

    /** Redis would end the mark by its own clock, which is not the simulation's: it is there exactly as long as the model has it. */
    const setMark = () =>
      model.state.awakeUntilMs > nowMs()
        ? upstash.direct('SET', keys.awake, model.state.mark)
        : upstash.direct('DEL', keys.awake);

    const compare = (what: string, expected: unknown, found: unknown) => {
      if (!isDeepStrictEqual(expected, found)) {
        differs(`${what}: in memory ${JSON.stringify(expected)}, in Redis ${JSON.stringify(found)}`);
      }
    };

    const onBoth = async <T>(call: (set: DueSet) => Promise<T>): Promise<T> => {
      await setMark();
      const expected = await call(model);
      const reply = await call(real);
      const found = [...(await membersOf(upstash, keys.due))].map(([id, score]) => [id, Number(score)]);
      compare('reply', expected, reply);
      compare('scores', Object.fromEntries(model.state.scores), Object.fromEntries(found));
      compare('awake', model.state.awakeUntilMs > nowMs() ? 1 : 0, await upstash.direct('EXISTS', keys.awake));
      compare('breaker', model.state.breaker, parsed(await upstash.direct('GET', keys.breaker)));
      return reply;
    };

    return {
      dueSet: {
        exchange: (request) => onBoth((set) => set.exchange(request)),
        schedule: (entries) => onBoth((set) => set.schedule(entries)),
        absent: (ids) => onBoth((set) => set.absent(ids)),
        nowMs: () => onBoth((set) => set.nowMs()),
      },
      get state() {
        return model.state;
      },
      async load(state: DueSetState) {
        // As after a restart: the scripts are gone too.
        await upstash.direct('FLUSHALL');
        await upstash.direct('SCRIPT', 'FLUSH');
        const pairs = [...state.scores].flatMap(([id, score]) => [String(score), id]);
        if (pairs.length > 0) await upstash.direct('ZADD', keys.due, ...pairs);
        if (state.breaker !== null) await upstash.direct('SET', keys.breaker, stored(state.breaker));
        model.load(state);
      },
    };
  };
}

function stored({ state, atMs, perMs, probes }: MemoryBreaker): string {
  return `${state} ${atMs} ${perMs} ${probes}`;
}

function parsed(value: unknown): MemoryBreaker | null {
  if (value === null) return null;
  const [state, atMs, perMs, probes] = String(value).split(' ');
  return { state: state as MemoryBreaker['state'], atMs: Number(atMs), perMs: Number(perMs), probes: Number(probes) };
}
