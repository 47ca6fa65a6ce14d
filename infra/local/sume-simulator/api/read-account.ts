import { advance } from '../workspace.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import { isoTime, usageBody } from './job-body.ts';
import { takePage } from './page.ts';

/** GET /v1/me: whose key this is, and what its plan allows. */
export function readMe(call: Call): Answer {
  const { limits } = call.simulator.settings;
  const account = { workspace_id: call.tenant.workspace.id, name: 'Simulated workspace', plan: 'pro' };
  const allowed = {
    processing: finite(limits.processing),
    queued: finite(limits.queued),
    reads_per_minute: finite(limits.readsPerMinute),
    reads_per_day: finite(limits.readsPerDay),
    creates_per_minute: finite(limits.createsPerMinute),
    creates_per_day: finite(limits.createsPerDay),
  };
  return { status: 200, body: JSON.stringify({ data: { account, scopes: ['public_api'], limits: allowed } }) };
}

/** GET /v1/balance, in micro-dollars. What is reserved is not available any more. */
export function readBalance(call: Call): Answer {
  const { settings, world } = call.simulator;
  const { workspace } = call.tenant;
  advance(workspace, world.lanes, call.nowMs);
  const { reservedMicros, capturedMicros } = workspace;
  const data = {
    currency: 'USD',
    available_balance_usd_micros: settings.startBalanceUsdMicros - reservedMicros - capturedMicros,
    reserved_usd_micros: reservedMicros,
    captured_usd_micros: capturedMicros,
    concurrency: { processing: workspace.processingCount, queued: workspace.queue.length },
  };
  return { status: 200, body: JSON.stringify({ data }) };
}

/** GET /v1/usage?limit=&cursor= — one ledger entry for each job, newest first. */
export function readUsage(call: Call): Answer {
  const { workspace } = call.tenant;
  advance(workspace, call.simulator.world.lanes, call.nowMs);
  const { page, nextCursor } = takePage(workspace.jobs, new URLSearchParams(call.query), (job) => job.number);
  const usage = page.map((job) => ({
    id: `usage_${job.id.slice(4)}`,
    job_id: job.id,
    model: job.model,
    amount_usd_micros: job.priceMicros,
    ...usageBody(job),
    created_at: isoTime(job.createdAtMs),
    settled_at: isoTime(job.endedAtMs),
  }));
  return { status: 200, body: JSON.stringify({ data: { usage, next_cursor: nextCursor } }) };
}

export const HEALTH_BODY = JSON.stringify({
  status: 'ok',
  service: 'sume-simulator',
  build: { commit_sha: 'simulated' },
});

function finite(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
