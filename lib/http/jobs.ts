import { type Context, Hono } from 'hono';
import { jobIdPattern } from '../identify.ts';
import { type Job, type JobState, jobStates } from '../job.ts';
import { pollNow } from '../poll-now.ts';
import { submit } from '../submit.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { jobSummary, jobView } from './job-view.ts';
import { Problem } from './problem.ts';
import { readSubmitBody } from './submit-body.ts';

const limitDefault = 50;
const limitMax = 100;

export function jobRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/', async (context) => {
    const idempotencyKey = readIdempotencyKey(sentHeader(context, 'idempotency-key'));
    const body = readSubmitBody(await context.req.text());
    const owner = context.get('owner');
    const result = await submit(ports, { owner, account: ports.account, idempotencyKey, ...body });
    if (result.kind === 'conflict') {
      const detail = 'This Idempotency-Key was used before with another body. Use a new key for a new job.';
      throw new Problem(422, 'idempotency_key_reused', detail, 'Idempotency-Key', { job_id: result.job.id });
    }
    if (result.replayed) context.header('Idempotent-Replayed', 'true');
    context.header('Location', `/v1/jobs/${result.job.id}`);
    return context.json(jobView(result.job), 202);
  });

  routes.get('/', async (context) => {
    const owner = context.get('owner');
    const state = readState(context);
    const cursor = context.req.query('cursor');
    const after = cursor === undefined ? {} : { after: readCursor(cursor, owner, state ?? '') };
    const page = await ports.store.list(owner, {
      limit: readLimit(context),
      ...(state === undefined ? {} : { state }),
      ...after,
    });
    const nextCursor = page.next === null ? null : writeCursor(page.next, owner, state ?? '');
    return context.json({ jobs: page.jobs.map(jobSummary), next_cursor: nextCursor });
  });

  const findJob = async (context: Context<ApiEnv>, id: string): Promise<Job> => {
    const job = jobIdPattern.test(id) ? await ports.store.get(id) : null;
    // Another owner's job is answered like one that does not exist.
    if (job === null || job.owner !== context.get('owner'))
      throw new Problem(404, 'no_such_job', 'There is no job with this id.', 'id');
    return job;
  };

  routes.get('/:id', async (context) => context.json(jobView(await findJob(context, context.req.param('id')))));

  routes.post('/:id/poll', async (context) => {
    const { kind, job } = await pollNow(ports, await findJob(context, context.req.param('id')));
    if (kind === 'polled') return context.json(jobView(job), 202);
    if (kind === 'ended') throw new Problem(409, 'job_ended', `The job has ended as ${job.state}.`, 'id');
    const detail = 'The provider never confirmed this job, and sending it again after so long might bill it twice.';
    throw new Problem(409, 'job_unconfirmed', detail, 'id');
  });

  for (const [path, methods] of [
    ['/', 'GET, POST'],
    ['/:id', 'GET'],
    ['/:id/poll', 'POST'],
  ] as const) {
    routes.all(path, (context) => {
      context.header('Allow', methods);
      throw new Problem(405, 'method_not_allowed', `This path takes ${methods}.`, 'method');
    });
  }

  return routes;
}

/** A header as it was sent: the framework's own view of it has what is not ASCII percent-encoded. */
function sentHeader(context: Context<ApiEnv>, name: string): string | undefined {
  const headers = context.env.event.headers as Record<string, string | undefined> | undefined;
  return headers?.[name] ?? context.req.header(name);
}

function readState(context: Context<ApiEnv>): JobState | undefined {
  const state = context.req.query('state');
  if (state === undefined) return undefined;
  const known = jobStates.find((name) => name === state);
  if (known === undefined)
    throw new Problem(400, 'state_invalid', `state must be one of ${jobStates.join(', ')}.`, 'state');
  return known;
}

function readLimit(context: Context<ApiEnv>): number {
  const text = context.req.query('limit');
  if (text === undefined) return limitDefault;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax)
    throw new Problem(400, 'limit_invalid', `limit must be a whole number from 1 to ${limitMax}.`, 'limit');
  return limit;
}
