import { Hono } from 'hono';
import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import type { AccountPauses } from '../account-pause.ts';
import type { AccountView } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import type { Ledger } from '../cost.ts';
import { DueSetError, JobStoreError, messageOf } from '../errors.ts';
import type { Job } from '../job.ts';
import type { JobStore } from '../ports.ts';
import type { SubmitPorts } from '../submit.ts';
import type { Range } from '../waiting-for.ts';
import { accountRoutes } from './accounts.ts';
import { healthReader } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { answerProblem, Problem } from './problem.ts';
import { statsRoutes } from './stats.ts';

export interface ApiPorts extends SubmitPorts {
  store: Pick<JobStore, 'create' | 'get' | 'list' | 'update'>;
  stage: string;
  accounts: readonly Account[];
  view: AccountView;
  pauses: AccountPauses;
  /** What jobs have cost; nothing is shown of it without. */
  ledger?: Pick<Ledger, 'read'>;
  /** How long a render of the job's kind is likely to take, ms from the create to the end as we see it; null when not known. */
  predictEnd?: (job: Job) => Promise<Range | null>;
}

/** What Lambda hands in, and who calls: set for every route that needs a token. */
export interface ApiEnv {
  Bindings: { event: LambdaEvent; lambdaContext: LambdaContext };
  Variables: { owner: string };
}

/** The HTTP API. Every error leaves it as a problem document; only a bug is a 500. */
export function createApp(ports: ApiPorts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const health = healthReader(ports);
  app.get('/health', async (context) => context.json(await health()));
  app.use('/v1/*', async (context, next) => {
    context.set('owner', ownerOf(context.env?.event));
    await next();
  });
  app.route('/v1/jobs', jobRoutes(ports));
  app.route('/v1/accounts', accountRoutes(ports));
  app.route('/v1/stats', statsRoutes(ports));
  app.notFound((context) => {
    return answerProblem(context, new Problem(404, 'no_such_route', 'There is nothing at this path.', 'path'));
  });
  app.onError((error, context) => {
    if (error instanceof Problem) return answerProblem(context, error);
    ports.log.error('request_failed', { path: context.req.path.slice(0, 200), error: messageOf(error) });
    if (error instanceof JobStoreError && !error.broken) {
      return answerProblem(
        context,
        new Problem(
          503,
          'record_unavailable',
          'The record can not be reached now. Nothing was written; repeat the request.',
        ),
      );
    }
    if (error instanceof DueSetError) {
      return answerProblem(
        context,
        new Problem(503, 'due_set_unavailable', 'The due set can not be reached now; repeat the request.'),
      );
    }
    return answerProblem(context, new Problem(500, 'internal_error', 'The request failed on our side.'));
  });
  return app;
}

/**
 * The owner that the authorizer found for the request's bearer token. The authorizer lets every request through and
 * only says who it is, so that a refusal is a problem document like every other; this is where it is refused.
 */
function ownerOf(event: LambdaEvent | undefined): string {
  const context = event?.requestContext as { authorizer?: { lambda?: { owner?: unknown } } } | undefined;
  const owner = context?.authorizer?.lambda?.owner;
  if (typeof owner === 'string' && owner !== '') return owner;
  throw new Problem(
    401,
    'token_invalid',
    'Send "Authorization: Bearer <token>" with a token of this service.',
    'Authorization',
  );
}
