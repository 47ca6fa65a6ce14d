import { Redis, type RedisConfigNodejs } from '@upstash/redis';
import { type LocalRedis, startRedis } from '../../infra/local/redis/redis.ts';
import type { Faults } from '../../infra/local/upstash-rest/faults.ts';
import { RedisLink } from '../../infra/local/upstash-rest/redis-link.ts';
import type { CommandArgument, Reply } from '../../infra/local/upstash-rest/resp.ts';
import {
  startUpstashRest,
  type UpstashRest,
  type UpstashRestOptions,
} from '../../infra/local/upstash-rest/upstash-rest.ts';

/** Of stage `test` and account `sume`, which all tests use that need only one. */
export const dueKey = 'pk:{test}:due:sume';
export const waitingKey = 'pk:{test}:waiting:sume';

/** A private Redis with the REST bridge in front. Start one per test file, `fresh()` before each test, `close()` at the end. */
export type TestUpstash = {
  url: string;
  token: string;
  readOnlyToken: string;
  redis: LocalRedis;
  rest: UpstashRest;
  /** The real client, with its own defaults unless told otherwise. */
  client(config?: Partial<RedisConfigNodejs>): Redis;
  /** An HTTP request with the token; `path` starts with `/`. Headers and method as given. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** One command straight to Redis: not through the bridge, not counted, no faults. */
  direct(...command: CommandArgument[]): Promise<Reply>;
  setFaults(faults: Faults): Promise<void>;
  /** No keys, no scripts, no faults. */
  fresh(): Promise<void>;
  close(): Promise<void>;
};

export async function startTestUpstash(options: Partial<UpstashRestOptions> = {}): Promise<TestUpstash> {
  const token = 'test-token';
  const readOnlyToken = 'test-read-only-token';
  const redis = await startRedis();
  const rest = await startUpstashRest({ redisPort: redis.port, token, readOnlyToken, ...options });
  const link = new RedisLink({ port: redis.port, replyTimeoutMs: 10_000 });
  const direct = async (...command: CommandArgument[]) => (await link.send([command]))[0] ?? null;
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
    return fetch(rest.url + path, { ...init, headers });
  };
  const setFaults = async (faults: Faults) => {
    const response = await request('/__faults', { method: 'POST', body: JSON.stringify(faults) });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    url: rest.url,
    token,
    readOnlyToken,
    redis,
    rest,
    client: (config = {}) => new Redis({ url: rest.url, token, ...config }),
    request,
    direct,
    setFaults,
    fresh: async () => {
      await setFaults({});
      await direct('FLUSHALL');
      await direct('SCRIPT', 'FLUSH');
    },
    close: async () => {
      link.close();
      await rest.close();
      await redis.close();
    },
  };
}

/** The members of a sorted set, lowest first, and their scores as Redis writes them. */
export async function membersOf({ direct }: TestUpstash, key = dueKey): Promise<Map<string, string>> {
  const flat = ((await direct('ZRANGE', key, '0', '-1', 'WITHSCORES')) as unknown[]).map(String);
  return new Map(flat.flatMap((member, at) => (at % 2 ? [] : [[member, flat[at + 1] ?? '']])));
}
