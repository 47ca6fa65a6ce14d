import { Hono } from 'hono';
import type { Batch } from '../batch.ts';
import { batchIdFor } from '../identify.ts';
import type { JobState } from '../job.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { batchView } from './batch-view.ts';
import { demandScope } from './caller.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';

/** Looking at a batch. */
export function batchRoutes(ports: Pick<ApiPorts, 'batches'>): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/:name', demandScope('read'), async (context) => {
    // The owner is part of the id: there is no way to another's batch.
    const batch = await ports.batches.get(batchIdFor(context.get('owner'), context.req.param('name')));
    if (batch === null) throw new Problem(404, 'no_such_batch', 'There is no batch with this name.', 'name');
    return context.json(batchView(batch, await countsOf(ports, batch)));
  });

  refuseOtherMethods(routes, { '/:name': 'GET' });

  return routes;
}

async function countsOf({ batches }: Pick<ApiPorts, 'batches'>, { id, counts }: Batch) {
  if (counts !== undefined) return counts;
  const open: Partial<Record<JobState, number>> = {};
  for (const { state } of await batches.jobs(id)) open[state] = (open[state] ?? 0) + 1;
  return open;
}
