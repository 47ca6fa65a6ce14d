import { type Context, Hono } from 'hono';
import { awaitChange } from '../await-change.ts';
import type { Job } from '../job.ts';
import { place } from '../place.ts';
import type { ListPosition } from '../ports.ts';
import { SpendingCapReached } from '../spending-cap.ts';
import { submitUnlessRefused } from '../submit.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { etagOf, namesTag } from './etag.ts';
import { findJob } from './find-job.ts';
import { howManyFit } from './how-many-fit.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { jobOutlook } from './job-outlook.ts';
import { jobSummary, jobView } from './job-view.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { readQuery } from './read-query.ts';
import { remainingMs } from './remaining-ms.ts';
import { jobQuery, jobsQuery } from './schema/queries.ts';
import { readSubmitBody } from './submit-body.ts';
import { aboveCap, keyReused, noAccount, refusalProblem } from './submit-problem.ts';

/** Kept from a wait, for the answer itself. */
const answerMs = 3_000;

/** Submitting one job, and looking at jobs. */
export function jobRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/', demandScope('submit'), async (context) => {
    const idempotencyKey = readIdempotencyKey(sentHeader(context, 'idempotency-key'));
    const { account: wanted, ...body } = readSubmitBody(await context.req.text());
    const owner = context.get('owner');
    const account = await place(ports.accounts, ports.queues, owner, wanted);
    if (account === null) throw noAccount(wanted);
    const request = { owner, account, accountNamed: wanted !== undefined, idempotencyKey, ...body };
    const result = await submitUnlessRefused(ports, request).catch(refuseAboveCap);
    if (result.kind === 'conflict') throw keyReused(result.job.id);
    if (result.kind !== 'accepted') throw refusalProblem(result);
    if (result.replayed) context.header('Idempotent-Replayed', 'true');
    context.header('Location', `/v1/jobs/${result.job.id}`);
    return context.json(jobView(result.job), 202);
  });

  routes.get('/', demandScope('read'), async (context) => {
    const owner = context.get('owner');
    const { state, batch, limit, cursor } = readQuery(jobsQuery, context.req.query());
    // A state has no space in it.
    const filter = batch === undefined ? (state ?? '') : `${state ?? ''} ${batch}`;
    const after: { after?: ListPosition } = cursor === undefined ? {} : { after: readCursor(cursor, owner, filter) };
    const chosen = { ...(state === undefined ? {} : { state }), ...(batch === undefined ? {} : { batch }) };
    const page = await ports.store.list(owner, { limit, ...chosen, ...after });
    const summaries = page.jobs.map(jobSummary);
    const shown = summaries.slice(0, howManyFit(summaries));
    const next = shown.length < summaries.length ? (page.jobs[shown.length - 1] ?? null) : page.next;
    return context.json({ jobs: shown, next_cursor: next === null ? null : writeCursor(next, owner, filter) });
  });

  routes.get('/:id', demandScope('read'), async (context) => {
    const { wait } = readQuery(jobQuery, context.req.query());
    const known = context.req.header('if-none-match');
    const found = await findJob(ports, context);
    const waitMs = Math.min(wait * 1000, remainingMs(context) - answerMs);
    // Each wait holds a function: an owner who has many of them is answered at once, and comes again.
    const mayLook = async () => (await ports.waitLimit?.take(`${found.owner}#wait`))?.allowed ?? true;
    const job = await awaitChange(ports, found, { waitMs, isNews: newsFor(known, found), mayLook });
    context.header('ETag', etagOf(job));
    if (known !== undefined && namesTag(known, etagOf(job))) return context.body(null, 304);
    return context.json({ ...jobView(job), ...(await jobOutlook(ports, job)) });
  });

  refuseOtherMethods(routes, { '/': 'GET, POST', '/:id': 'GET' });

  return routes;
}

/** What a caller waits for: any change to what it knows, or another state than the one it would be shown now. */
function newsFor(known: string | undefined, found: Job): (job: Job) => boolean {
  return known === undefined ? ({ state }) => state !== found.state : (job) => !namesTag(known, etagOf(job));
}

function refuseAboveCap(error: unknown): never {
  throw error instanceof SpendingCapReached ? aboveCap(error) : error;
}

/** A header as it was sent: the framework's own view of it has what is not ASCII percent-encoded. */
function sentHeader(context: Context<ApiEnv>, name: string): string | undefined {
  const headers = context.env.event.headers as Record<string, string | undefined> | undefined;
  return headers?.[name] ?? context.req.header(name);
}
