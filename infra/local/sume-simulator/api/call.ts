import type { Job } from '../job.ts';
import type { Simulator, Tenant } from '../simulator.ts';
import { advance, type Workspace } from '../workspace.ts';
import { Refusal } from './answer.ts';
import type { RouteKind } from './route.ts';

/** One authenticated request, read and ready to be carried out. */
export type Call = {
  readonly simulator: Simulator;
  readonly kind: RouteKind;
  readonly jobId: string;
  readonly tenant: Tenant;
  readonly query: string;
  /** The parsed body of a POST; undefined for a GET and for an empty body. */
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
  /** Scheme and host that the client used, e.g. http://127.0.0.1:4100. */
  readonly origin: string;
  readonly nowMs: number;
};

/** The caller's job, moved to now. Another workspace's job is answered exactly like one that never was. Throws a Refusal. */
export function ownJob(call: Call): { job: Job; workspace: Workspace } {
  const { simulator, tenant, jobId, nowMs } = call;
  const job = simulator.world.jobs.get(jobId);
  const { workspace } = tenant;
  if (job === undefined || job.workspace !== workspace.id) {
    throw new Refusal(404, 'job_not_found', 'No such job in this workspace.', { job_id: jobId.slice(0, 200) });
  }
  advance(workspace, simulator.world.lanes, nowMs);
  return { job, workspace };
}
