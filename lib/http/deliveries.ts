import { type Context, Hono } from 'hono';
import { redeliver } from '../redeliver.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { deliveryView } from './delivery-view.ts';
import { findEndpoint } from './endpoints.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { readNoBody } from './read-no-body.ts';
import { readQuery } from './read-query.ts';
import { redeliverProblem } from './redeliver-problem.ts';
import { deliveriesQuery } from './schema/queries.ts';

/** The deliveries that failed for good or are still to come, and sending one again. */
export function deliveryRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/', demandScope('read'), async (context) => {
    const owner = context.get('owner');
    const { state, endpoint_id: endpointId, limit, cursor } = readQuery(deliveriesQuery, context.req.query());
    if ((state === undefined) === (endpointId === undefined)) {
      const detail = 'Ask for state=dead, or for those pending at an endpoint by endpoint_id.';
      throw new Problem(400, 'state_invalid', detail, 'state');
    }
    const filter = `deliveries ${endpointId ?? 'dead'}`;
    const after = cursor === undefined ? {} : { after: readCursor(cursor, owner, filter) };
    if (endpointId !== undefined) await findEndpoint(ports, context, endpointId, 'endpoint_id');
    const of = endpointId === undefined ? { deadOf: owner } : { pendingAt: endpointId };
    const page = await ports.deliveries.list(of, { limit, ...after });
    const nextCursor = page.next === null ? null : writeCursor(page.next, owner, filter);
    return context.json({ deliveries: page.deliveries.map(deliveryView), next_cursor: nextCursor });
  });

  routes.post('/:id/redeliver', demandScope('submit'), async (context) => {
    const delivery = await findDelivery(ports, context);
    readNoBody(await context.req.text());
    const result = await redeliver(ports, delivery);
    if (result.kind !== 'due') throw redeliverProblem(result);
    return context.json(deliveryView(result.delivery), 202);
  });

  refuseOtherMethods(routes, { '/': 'GET', '/:id/redeliver': 'POST' });

  return routes;
}

/** Another owner's delivery is answered like one that does not exist: 404. */
async function findDelivery({ deliveries }: Pick<ApiPorts, 'deliveries'>, context: Context<ApiEnv>) {
  const id = context.req.param('id') ?? '';
  const [delivery] = /^dlv_[a-z2-7]{32}$/.test(id) ? await deliveries.getMany([id]) : [];
  if (delivery === undefined || delivery.owner !== context.get('owner')) {
    throw new Problem(404, 'no_such_delivery', 'There is no delivery with this id.', 'id');
  }
  return delivery;
}
