import { type Context, Hono } from 'hono';
import { type Endpoint, endpointsMax } from '../webhooks/endpoint.ts';
import {
  changeEndpoint,
  type EndpointResult,
  registerEndpoint,
  removeEndpoint,
  rotateSecret,
} from '../webhooks/register.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { endpointView, secretsView } from './endpoint-view.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { readBody } from './read-body.ts';
import { requestRaced } from './redeliver-problem.ts';
import { endpointBody, endpointPatch, rotateSecretBody } from './schema/endpoint-bodies.ts';
import { bodyBytesMax } from './submit-body.ts';
import { urlRefused } from './submit-problem.ts';
import { withoutUndefined } from './without-undefined.ts';

/** Where the owner's events are sent. */
export function endpointRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/', demandScope('read'), async (context) => {
    const endpoints = await ports.endpoints.list(context.get('owner'));
    return context.json({ endpoints: endpoints.map(endpointView) });
  });

  routes.post('/', demandScope('admin'), async (context) => {
    const body = withoutUndefined(readBody(endpointBody, await context.req.text(), { bytesMax: bodyBytesMax }));
    const owner = context.get('owner');
    const endpoint = endpointOf(await registerEndpoint(ports, owner, body));
    ports.log.info('endpoint_registered', { endpointId: endpoint.id, owner });
    context.header('Location', `/v1/endpoints/${endpoint.id}`);
    keepSecret(context);
    return context.json({ ...endpointView(endpoint), secret: endpoint.secrets[0]?.secret }, 201);
  });

  routes.get('/:id', demandScope('read'), async (context) => {
    return context.json(endpointView(await findEndpoint(ports, context)));
  });

  routes.patch('/:id', demandScope('admin'), async (context) => {
    const found = await findEndpoint(ports, context);
    const change = withoutUndefined(readBody(endpointPatch, await context.req.text(), { bytesMax: bodyBytesMax }));
    const endpoint = endpointOf(await changeEndpoint(ports, found, change));
    ports.log.info('endpoint_changed', { endpointId: endpoint.id, owner: endpoint.owner, state: endpoint.state });
    return context.json(endpointView(endpoint));
  });

  routes.delete('/:id', demandScope('admin'), async (context) => {
    const found = await findEndpoint(ports, context);
    await removeEndpoint(ports, found);
    ports.log.info('endpoint_removed', { endpointId: found.id, owner: found.owner });
    return context.body(null, 204);
  });

  routes.get('/:id/secret', demandScope('admin'), async (context) => {
    const endpoint = await findEndpoint(ports, context);
    keepSecret(context);
    return context.json(secretsView(endpoint, ports.clock.nowMs()));
  });

  routes.post('/:id/rotate-secret', demandScope('admin'), async (context) => {
    const found = await findEndpoint(ports, context);
    const bounds = { bytesMax: bodyBytesMax, mayBeEmpty: true };
    const { overlap_seconds: overlap } = readBody(rotateSecretBody, await context.req.text(), bounds);
    const endpoint = endpointOf(await rotateSecret(ports, found, overlap * 1000));
    ports.log.info('endpoint_secret_rotated', { endpointId: endpoint.id, owner: endpoint.owner });
    keepSecret(context);
    return context.json(secretsView(endpoint, ports.clock.nowMs()));
  });

  refuseOtherMethods(routes, {
    '/': 'GET, POST',
    '/:id': 'GET, PATCH, DELETE',
    '/:id/secret': 'GET',
    '/:id/rotate-secret': 'POST',
  });

  return routes;
}

/** Another owner's endpoint is answered like one that does not exist: 404. */
export async function findEndpoint(
  { endpoints }: Pick<ApiPorts, 'endpoints'>,
  context: Context<ApiEnv>,
  id = context.req.param('id') ?? '',
  field = 'id',
): Promise<Endpoint> {
  const endpoint = /^whe_[a-z2-7]{32}$/.test(id) ? await endpoints.get(id) : null;
  if (endpoint === null || endpoint.owner !== context.get('owner')) {
    throw new Problem(404, 'no_such_endpoint', 'There is no endpoint with this id.', field);
  }
  return endpoint;
}

function endpointOf(result: EndpointResult): Endpoint {
  switch (result.kind) {
    case 'done':
      return result.endpoint;
    case 'url_refused':
      throw urlRefused(result.reason, 'url');
    case 'too_many':
      throw new Problem(409, 'too_many_endpoints', `An owner may register at most ${endpointsMax} endpoints.`);
    case 'job_endpoint': {
      const detail =
        'This endpoint came with jobs, and they say where it leads and what it hears. Change only the rest.';
      throw new Problem(409, 'endpoint_of_jobs', detail, 'id');
    }
    case 'too_many_secrets': {
      const detail = 'Too many earlier secrets still sign. Wait until one has expired, or use overlap_seconds 0.';
      throw new Problem(409, 'too_many_secrets', detail, 'overlap_seconds');
    }
    case 'raced':
      throw requestRaced();
  }
}

function keepSecret(context: Context<ApiEnv>): void {
  context.header('Cache-Control', 'no-store');
}
