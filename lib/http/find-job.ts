import type { Context } from 'hono';
import { jobIdPattern } from '../identify.ts';
import type { Job } from '../job.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { Problem } from './problem.ts';

/** The caller's job with the id in the path. Another owner's is answered like one that does not exist: 404. */
export async function findJob({ store }: Pick<ApiPorts, 'store'>, context: Context<ApiEnv>): Promise<Job> {
  const id = context.req.param('id') ?? '';
  const job = jobIdPattern.test(id) ? await store.get(id) : null;
  if (job === null || job.owner !== context.get('owner')) {
    throw new Problem(404, 'no_such_job', 'There is no job with this id.', 'id');
  }
  return job;
}
