/**
 * How long one exchange takes beside the ids that are in the set. Each round settles what the one before claimed, as a drain
 * at S1's rate does; the ids come due again at once, so that every round has as many to claim.
 */

import { connectUpstash, UpstashDueSet } from '../../../lib/due-set/upstash-due-set.ts';
import type { Claim } from '../../../lib/ports.ts';
import { benchAccount, benchStage } from '../bench-names.ts';
import { type Spread, spreadOf } from '../percentiles.ts';

const { UPSTASH_REDIS_REST_URL: url = '', UPSTASH_REDIS_REST_TOKEN: token = '', ROUNDS, CLAIMS } = process.env;
const dueSet = new UpstashDueSet(connectUpstash({ url, token, timeoutMs: 10_000 }), {
  stage: benchStage,
  account: benchAccount,
  url,
  token: '',
  lease: { leaseMs: 10_000, aheadMs: 1_250 },
});

async function round(claims: readonly Claim[], nowMs: number) {
  return dueSet.exchange({
    settlements: claims.map(({ id, token: shown }) => ({ id, token: shown, to: { kind: 'due', atMs: nowMs } })),
    claimMax: Number(CLAIMS),
    windowMs: 60_000,
    role: 'first',
    inHand: 0,
  });
}

process.on('disconnect', () => process.exit(0));
const times: number[] = [];
let { claimed, nowMs } = await round([], 0);
const warmUpRounds = 20;
for (let count = 0; count < Number(ROUNDS) + warmUpRounds; count++) {
  const startedAtMs = performance.now();
  ({ claimed, nowMs } = await round(claimed, nowMs));
  if (count >= warmUpRounds) times.push(performance.now() - startedAtMs);
}
await round(claimed, nowMs);
process.send?.({ kind: 'ready', ...spreadOf(times) } satisfies { kind: 'ready' } & Spread);
