import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type AccountLimits, noLimits } from '../../lib/accounts.ts';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import type { Claim, DueSet, ExchangeReply, ExchangeRequest, Settlement, WaitingEntry } from '../../lib/ports.ts';
import { MemoryDueSet } from '../sim/memory-due-set.ts';
import { emptySet } from '../sim/memory-sets.ts';
import { dueKey, startTestUpstash, type TestUpstash, waitingKey } from './upstash.ts';

export const start = 1_800_000_000_000;
const lease = { leaseMs: 10_000, aheadMs: 1_100 };

/** A due set under its contract, emptied before each test. */
export interface TestDueSet {
  /** The set's clock, ms; the test moves it. */
  nowMs: number;
  /** The adapter under test; `connect` makes another one on the same set. */
  set: DueSet;
  connect(): DueSet;
  /** From now on `set` keeps to these limits. */
  limit(limits: Partial<AccountLimits>): void;
  /** An exchange of a drain with a minute left and nothing in hand, unless told otherwise. */
  exchange(given?: Partial<ExchangeRequest>): Promise<ExchangeReply>;
  claimOne(id?: string): Promise<Claim>;
  score(id: string): Promise<string>;
  /** Puts an id in past the adapter, with whatever score. */
  put(score: string, id: string): Promise<void>;
  /** The same for the line of those that wait. */
  line(rank: string, id: string): Promise<void>;
  /** Loses everything. */
  wipe(): Promise<void>;
  /** The awake mark comes to its end; Redis would end it by its own clock. */
  lapse(): Promise<void>;
}

/** On a real Redis, through the bridge and the real client. */
export interface RedisTestDueSet extends TestDueSet {
  readonly upstash: TestUpstash;
  connect(timeoutMs?: number, token?: string): DueSet;
  /** Commands since CONFIG RESETSTAT as Upstash bills them: the script call and each command inside it. */
  commandCalls(): Promise<number>;
}

export const due = (id: string, token: string, atMs: number): Settlement => ({ id, token, to: { kind: 'due', atMs } });
/** So many new jobs, of so many owners in turn. */
export const waiting = (count: number, owners = 1, given: Partial<WaitingEntry> = {}): WaitingEntry[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ id: `job_w${i}`, owner: `owner-${i % owners}`, priority: 5, expiresInMs: 86_400_000 },
    ...given,
  }));
export const remove = (id: string, token: string): Settlement => ({ id, token, to: { kind: 'remove' } });

/** Every adapter there is: the contract is run on each. */
export const dueSets: readonly { name: string; use: () => TestDueSet }[] = [
  { name: 'in Redis', use: useRedisDueSet },
  { name: 'in memory', use: useMemoryDueSet },
];

export function useRedisDueSet(): RedisTestDueSet {
  const test = new InRedis();
  beforeAll(async () => {
    test.upstash = await startTestUpstash();
  });
  afterAll(() => test.upstash.close());
  beforeEach(async () => {
    await test.upstash.fresh();
    test.nowMs = start;
    test.set = test.connect();
  });
  return test;
}

function useMemoryDueSet(): TestDueSet {
  const test = new InMemory();
  beforeEach(() => {
    test.nowMs = start;
    test.set = new MemoryDueSet(() => test.nowMs, lease);
  });
  return test;
}

abstract class OnTest implements TestDueSet {
  declare set: DueSet;
  nowMs = start;

  abstract connect(): DueSet;
  abstract limit(limits: Partial<AccountLimits>): void;
  abstract score(id: string): Promise<string>;
  abstract put(score: string, id: string): Promise<void>;
  abstract line(rank: string, id: string): Promise<void>;
  abstract wipe(): Promise<void>;
  abstract lapse(): Promise<void>;

  exchange(given: Partial<ExchangeRequest> = {}): Promise<ExchangeReply> {
    return this.set.exchange({
      ...{ settlements: [], claimMax: 100, windowMs: 60_000, role: 'first' as const, inHand: 0 },
      ...given,
    });
  }

  async claimOne(id = 'job_a'): Promise<Claim> {
    await this.set.schedule([{ id, delayMs: 0 }]);
    const { claimed } = await this.exchange();
    expect(claimed.map((claim) => claim.id)).toEqual([id]);
    return claimed[0] as Claim;
  }
}

const accountKey = 'pk:{test}:account:sume';

class InRedis extends OnTest implements RedisTestDueSet {
  declare upstash: TestUpstash;

  connect(timeoutMs = 2_000, token = this.upstash.token, limits = noLimits): DueSet {
    const { url } = this.upstash;
    const redis = connectUpstash({ url, token, timeoutMs });
    const of = { stage: 'test', account: 'sume', limits };
    return new UpstashDueSet(redis, { ...of, url, token, lease, nowMs: () => this.nowMs });
  }

  limit(limits: Partial<AccountLimits>): void {
    this.set = this.connect(2_000, this.upstash.token, { ...noLimits, ...limits });
  }

  async score(id: string): Promise<string> {
    return String(await this.upstash.direct('ZSCORE', dueKey, id));
  }

  async put(score: string, id: string): Promise<void> {
    await this.upstash.direct('ZADD', dueKey, score, id);
  }

  async line(rank: string, id: string): Promise<void> {
    await this.upstash.direct('ZADD', waitingKey, rank, id);
  }

  async wipe(): Promise<void> {
    await this.upstash.direct('FLUSHALL');
  }

  async lapse(): Promise<void> {
    const mark = String(await this.upstash.direct('HGET', accountKey, 'awake'));
    expect(Number(mark.split(' ')[0]) - this.nowMs).toBeLessThanOrEqual(2 * lease.aheadMs);
    await this.upstash.direct('HDEL', accountKey, 'awake');
  }

  async commandCalls(): Promise<number> {
    const stats = String(await this.upstash.direct('INFO', 'commandstats'));
    const lines = [...stats.matchAll(/cmdstat_(\w+)(?:\|\w+)?:calls=(\d+)/g)];
    const counted = lines.filter(([, name]) => name !== 'config' && name !== 'info');
    return counted.reduce((sum, [, , calls]) => sum + Number(calls), 0);
  }
}

class InMemory extends OnTest {
  declare set: MemoryDueSet;

  connect(): DueSet {
    return this.set;
  }

  limit(limits: Partial<AccountLimits>): void {
    const state = this.set.save();
    this.set = new MemoryDueSet(() => this.nowMs, lease, { ...noLimits, ...limits });
    this.set.load(state);
  }

  async score(id: string): Promise<string> {
    return String(this.set.state.scores.get(id));
  }

  async put(score: string, id: string): Promise<void> {
    const state = this.set.save();
    this.set.load({ ...state, scores: new Map(state.scores).set(id, Number(score.replace('inf', 'Infinity'))) });
  }

  async line(rank: string, id: string): Promise<void> {
    const state = this.set.save();
    this.set.load({ ...state, waiting: new Map(state.waiting).set(id, Number(rank.replace('inf', 'Infinity'))) });
  }

  async wipe(): Promise<void> {
    this.set.load(emptySet);
  }

  async lapse(): Promise<void> {
    const state = this.set.save();
    this.set.load({ ...state, account: new Map([...state.account].filter(([name]) => name !== 'awake')) });
  }
}
