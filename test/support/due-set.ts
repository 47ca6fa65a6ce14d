import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import type { Claim, DueSet, ExchangeReply, ExchangeRequest, Settlement } from '../../lib/ports.ts';
import { startTestUpstash, type TestUpstash } from './upstash.ts';

export const start = 1_800_000_000_000;
const lease = { leaseMs: 10_000, aheadMs: 1_100 };

/** A due set on a real Redis, through the bridge and the real client, emptied before each test. */
export interface TestDueSet {
  readonly upstash: TestUpstash;
  /** The set's clock, ms; the test moves it. */
  nowMs: number;
  /** The adapter under test; `connect` makes another one on the same set. */
  set: DueSet;
  connect(timeoutMs?: number, token?: string): DueSet;
  /** An exchange of a drain with a minute left and nothing in hand, unless told otherwise. */
  exchange(given?: Partial<ExchangeRequest>): Promise<ExchangeReply>;
  claimOne(id?: string): Promise<Claim>;
  score(id: string): Promise<string>;
  /** Commands since CONFIG RESETSTAT as Upstash bills them: the script call and each command inside it. */
  commandCalls(): Promise<number>;
}

export const due = (id: string, token: string, atMs: number): Settlement => ({ id, token, to: { kind: 'due', atMs } });
export const remove = (id: string, token: string): Settlement => ({ id, token, to: { kind: 'remove' } });

export function useDueSet(): TestDueSet {
  const test = new DueSetOnTest();
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

class DueSetOnTest implements TestDueSet {
  declare upstash: TestUpstash;
  declare set: DueSet;
  nowMs = start;

  connect(timeoutMs = 2_000, token = this.upstash.token): DueSet {
    const { url } = this.upstash;
    const redis = connectUpstash({ url, token, timeoutMs });
    return new UpstashDueSet(redis, { stage: 'test', account: 'sume', url, token, lease, nowMs: () => this.nowMs });
  }

  exchange(given: Partial<ExchangeRequest> = {}): Promise<ExchangeReply> {
    return this.set.exchange({
      ...{ settlements: [], claimMax: 100, windowMs: 60_000, firstTick: false, inHand: 0 },
      ...given,
    });
  }

  async claimOne(id = 'job_a'): Promise<Claim> {
    await this.set.schedule([{ id, delayMs: 0 }]);
    const { claimed } = await this.exchange();
    expect(claimed.map((claim) => claim.id)).toEqual([id]);
    return claimed[0] as Claim;
  }

  async score(id: string): Promise<string> {
    return String(await this.upstash.direct('ZSCORE', 'pk:{test}:due:sume', id));
  }

  async commandCalls(): Promise<number> {
    const stats = String(await this.upstash.direct('INFO', 'commandstats'));
    const lines = [...stats.matchAll(/cmdstat_(\w+)(?:\|\w+)?:calls=(\d+)/g)];
    const counted = lines.filter(([, name]) => name !== 'config' && name !== 'info');
    return counted.reduce((sum, [, , calls]) => sum + Number(calls), 0);
  }
}
