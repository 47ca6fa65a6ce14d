import { type Context, Hono } from 'hono';
import { jobIdPattern } from '../identify.ts';
import { type Job, type JobState, jobStates } from '../job.ts';
import { place } from '../place.ts';
import { pollNow } from '../poll-now.ts';
import { SpendingCapReached } from '../spending-cap.ts';
import { submit } from '../submit.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { jobOutlook } from './job-outlook.ts';
import { jobSummary, jobView } from './job-view.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { readSubmitBody } from './submit-body.ts';

const limitDefault = 50;
const limitMax = 100;

export function jobRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/', async (context) => {
    const idempotencyKey = readIdempotencyKey(sentHeader(context, 'idempotency-key'));
    const { account: wanted, ...body } = readSubmitBody(await context.req.text());
    const owner = context.get('owner');
    const account = await place(ports.accounts, ports.queues, owner, wanted);
    if (account === null) throw noAccount(wanted);
    const accountNamed = wanted !== undefined;
    const request = { owner, account, accountNamed, idempotencyKey, ...body };
    const result = await submit(ports, request).catch(refuseAboveCap);
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

  routes.get('/:id', async (context) => {
    const job = await findJob(context, context.req.param('id'));
    return context.json({ ...jobView(job), ...(await jobOutlook(ports, job)) });
  });

  routes.post('/:id/poll', async (context) => {
    const { kind, job } = await pollNow(ports, await findJob(context, context.req.param('id')));
    if (kind === 'polled') return context.json(jobView(job), 202);
    if (kind === 'ended') throw new Problem(409, 'job_ended', `The job has ended as ${job.state}.`, 'id');
    const detail = 'The provider never confirmed this job, and sending it again after so long might bill it twice.';
    throw new Problem(409, 'job_unconfirmed', detail, 'id');
  });

  refuseOtherMethods(routes, { '/': 'GET, POST', '/:id': 'GET', '/:id/poll': 'POST' });

  return routes;
}

/** The same for an account that does not exist and for one that is somebody else's. */
function noAccount(wanted: string | undefined): Problem {
  if (wanted === undefined) return new Problem(403, 'no_account', 'No account is open to this owner.');
  const detail = 'This is no account of yours. Leave account out, and the job is placed in one that is.';
  return new Problem(403, 'account_not_allowed', detail, 'account');
}

function refuseAboveCap(error: unknown): never {
  if (!(error instanceof SpendingCapReached)) throw error;
  const endsAt = new Date(error.dayEndsAtMs).toISOString();
  throw new Problem(402, 'spending_cap_reached', error.message, undefined, { day_ends_at: endsAt });
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
