import { Hono } from 'hono';
import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import { routePath } from 'hono/route';
import type { AccountPauses } from '../account-pause.ts';
import type { AccountView } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import type { Ledger } from '../cost.ts';
import { messageOf } from '../errors.ts';
import type { BatchStore, DeliveryStore, EndpointStore } from '../event-ports.ts';
import type { HookConfig } from '../hooks/hook-config.ts';
import type { HookCounts } from '../hooks/hook-health.ts';
import type { Job } from '../job.ts';
import type { Clock, JobStore } from '../ports.ts';
import type { RedeliverPorts } from '../redeliver.ts';
import type { RefusalPorts } from '../refusal.ts';
import type { RequestLimit } from '../request-limit.ts';
import type { SubmitPorts } from '../submit.ts';
import type { Range } from '../waiting-for.ts';
import type { RegisterPorts } from '../webhooks/register.ts';
import { accountRoutes } from './accounts.ts';
import { batchRoutes } from './batches.ts';
import { type Caller, demandToken } from './caller.ts';
import { deliveryRoutes } from './deliveries.ts';
import { endpointRoutes } from './endpoints.ts';
import { healthReader } from './health.ts';
import { hookRoutes } from './hooks.ts';
import { jobActRoutes } from './job-acts.ts';
import { jobBatchRoutes } from './job-batches.ts';
import { jobRoutes } from './jobs.ts';
import { openapiRoute } from './openapi-route.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { answerProblem, Problem } from './problem.ts';
import { problemOf } from './problem-of.ts';
import { limitRequests } from './rate-limit.ts';
import { followRequest } from './request-id.ts';
import { refusalOf } from './serve.ts';
import { statsRoutes } from './stats.ts';

export interface ApiPorts extends SubmitPorts, RefusalPorts, RedeliverPorts, RegisterPorts {
  store: Pick<JobStore, 'create' | 'get' | 'getMany' | 'list' | 'update'>;
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  batches: BatchStore;
  clock: Clock;
  stage: string;
  accounts: readonly Account[];
  view: AccountView;
  pauses: AccountPauses;
  /** What jobs have cost; nothing is shown of it without. */
  ledger?: Pick<Ledger, 'read'>;
  /** How long a render of the job's kind is likely to take, ms from the create to the end as we see it; null when not known. */
  predictEnd?: (job: Job) => Promise<Range | null>;
  /** A new id, for a request that came without one and for an endpoint. */
  newId: () => string;
  /** The provider's own word of ends; none is taken without. */
  hooks?: { secrets: HookConfig['secrets']; counts: HookCounts };
  /** How often an owner may call; any number of times without. */
  requestLimit?: RequestLimit;
  /** Looks at records that waiting requests may take, of each owner in a minute; any number without. */
  waitLimit?: RequestLimit;
}

/** What Lambda hands in, and what is known of the request; of the caller only where a route needs a token. */
export interface ApiEnv {
  Bindings: { event: LambdaEvent; lambdaContext: LambdaContext };
  Variables: { requestId: string; owner: string; caller: Caller };
}

/** The HTTP API. Every error leaves it as a problem document; only a bug is a 500. */
export function createApp(ports: ApiPorts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.use(followRequest(ports));
  app.use(async (context, next) => {
    const refused = refusalOf(context.env?.event);
    if (refused !== undefined) throw refused;
    await next();
  });

  // Open to everybody: what stands above the demand for a token.
  const health = healthReader(ports);
  app.get('/health', async (context) => {
    const seen = await health();
    return context.json(seen, seen.status === 'down' ? 503 : 200);
  });
  refuseOtherMethods(app, { '/health': 'GET' });
  app.route('/openapi.json', openapiRoute());
  app.route('/v1/hooks', hookRoutes(ports));

  app.use('/v1/*', demandToken);
  if (ports.requestLimit !== undefined) app.use('/v1/*', limitRequests(ports.requestLimit));
  app.route('/v1/jobs', jobBatchRoutes(ports));
  app.route('/v1/jobs', jobRoutes(ports));
  app.route('/v1/jobs', jobActRoutes(ports));
  app.route('/v1/batches', batchRoutes(ports));
  app.route('/v1/endpoints', endpointRoutes(ports));
  app.route('/v1/deliveries', deliveryRoutes(ports));
  app.route('/v1/accounts', accountRoutes(ports));
  app.route('/v1/stats', statsRoutes(ports));

  app.notFound((context) => {
    return answerProblem(context, new Problem(404, 'no_such_route', 'There is nothing at this path.', 'path'));
  });
  app.onError((error, context) => {
    const unexpected = !(error instanceof Problem);
    if (unexpected) ports.log.error('request_failed', { route: routePath(context), error: messageOf(error) });
    return answerProblem(context, problemOf(error));
  });
  return app;
}
