import { isDeepStrictEqual } from 'node:util';
import { dueSetKeys } from '../../lib/due-set/keys.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import type { DueSet } from '../../lib/ports.ts';
import { membersOf, type TestUpstash } from '../support/upstash.ts';
import { MemoryDueSet } from './memory-due-set.ts';
import type { DueSetState } from './memory-sets.ts';
import type { MakeSetSide } from './set-side.ts';

/** Real time, ms: a real Redis that needs this long for one call is no fault that the seed planned. */
const timeoutMs = 20_000;
const account = 'sume';

/**
 * The real scripts on a real Redis, through the bridge and the real client, beside the due set in memory: each call goes
 * to both, and what they answer and hold must be the same.
 */
export function redisSide(upstash: TestUpstash, stage: string): MakeSetSide {
  return async (nowMs, { limits, ...lease }, differs) => {
    const { url, token } = upstash;
    await upstash.direct('FLUSHALL');
    const keys = dueSetKeys(stage, account);
    const real = new UpstashDueSet(connectUpstash({ url, token, timeoutMs }), {
      ...{ stage, account, url, token, lease, limits, nowMs },
    });
    const model = new MemoryDueSet(nowMs, lease, limits);

    const compare = (what: string, expected: unknown, found: unknown) => {
      if (!isDeepStrictEqual(expected, found)) {
        differs(`${what}: in memory ${JSON.stringify(expected)}, in Redis ${JSON.stringify(found)}`);
      }
    };

    const sortedSet = async (key: string) =>
      Object.fromEntries([...(await membersOf(upstash, key))].map(([id, score]) => [id, Number(score)]));
    const hash = async (key: string) => {
      const flat = (await upstash.direct('HGETALL', key)) as unknown[];
      const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[String(name), String(flat[index + 1])]] : []));
      return fields(pairs as [string, string][]);
    };

    const onBoth = async <T>(call: (set: DueSet) => Promise<T>): Promise<T> => {
      const expected = await call(model);
      const reply = await call(real);
      compare('reply', expected, reply);
      for (const name of ['due', 'waiting', 'deadlines'] as const) {
        const held = model.state[name === 'due' ? 'scores' : name];
        compare(name, Object.fromEntries(held), await sortedSet(keys[name]));
      }
      for (const name of ['account', 'owners'] as const) {
        compare(name, fields([...model.state[name]]), await hash(keys[name]));
      }
      compare('busy', model.state.busy ? 1 : 0, await upstash.direct('SISMEMBER', keys.busy, account));
      return reply;
    };

    return {
      dueSet: {
        exchange: (request) => onBoth((set) => set.exchange(request)),
        schedule: (entries, mode) => onBoth((set) => set.schedule(entries, mode)),
        enqueue: (entries) => onBoth((set) => set.enqueue(entries)),
        tidy: () => onBoth((set) => set.tidy()),
        absent: (ids) => onBoth((set) => set.absent(ids)),
        workload: () => onBoth((set) => set.workload()),
        nowMs: () => onBoth((set) => set.nowMs()),
      },
      get state() {
        return model.state;
      },
      save: () => model.save(),
      async load(state: DueSetState) {
        // As after a restart: the scripts are gone too.
        await upstash.direct('FLUSHALL');
        await upstash.direct('SCRIPT', 'FLUSH');
        for (const name of ['due', 'waiting', 'deadlines'] as const) {
          const pairs = [...state[name === 'due' ? 'scores' : name]].flatMap(([id, score]) => [String(score), id]);
          if (pairs.length > 0) await upstash.direct('ZADD', keys[name], ...pairs);
        }
        for (const name of ['account', 'owners'] as const) {
          const pairs = [...state[name]].flat();
          if (pairs.length > 0) await upstash.direct('HSET', keys[name], ...pairs);
        }
        if (state.busy) await upstash.direct('SADD', keys.busy, account);
        model.load(state);
      },
    };
  };
}

/** Without the empty ones, and numbers as numbers: Lua and JavaScript write the same one differently. */
function fields(pairs: readonly [string, string][]): Record<string, (string | number)[]> {
  const split = (text: string) =>
    text.split(/[\s|]+/).map((word) => (Number.isNaN(Number(word)) ? word : Number(word)));
  return Object.fromEntries(pairs.filter(([, text]) => text !== '').map(([name, text]) => [name, split(text)]));
}
