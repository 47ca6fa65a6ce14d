import { connectUpstash, UpstashDueSet } from '../../lib/due-set/upstash-due-set.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { clock as realClock } from '../../lib/wire/process.ts';
import type { Parts } from './parts.ts';

/** The same parts for one more account: it has a key and a due set of its own, on the same Redis, record and provider. */
export function secondAccount(
  parts: Parts,
  { account, apiKey }: { account: string; apiKey: string },
): { ports: Parts['ports']; close: () => Promise<void> } {
  const { upstash, ports, sume, settings } = parts;
  const { url, token } = upstash;
  const limits = { connectMs: 500, totalMs: 1_000, bodyMax: 1_000_000 };
  const http = new HttpClient(sume.url, 50, limits, realClock.monotonicMs);
  const lease = { leaseMs: settings.leaseMs, aheadMs: 1_250 };
  const dueSet = new UpstashDueSet(connectUpstash({ url, token, timeoutMs: 1_000 }), {
    ...{ stage: 'test', account, url, token, lease, nowMs: ports.clock.nowMs },
  });
  const provider = new Sume(http, { basePath: '', apiKey, keyPrefix: 'test-' });
  const queues = new Map([...ports.queues, [account, { dueSet, waker: ports.waker }]]);
  return { ports: { ...ports, dueSet, provider, queues }, close: () => http.close() };
}
