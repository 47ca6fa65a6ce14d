import { Hono } from 'hono';
import { cancel } from '../cancel.ts';
import type { Job } from '../job.ts';
import { pollNow } from '../poll-now.ts';
import { redeliverJob } from '../redeliver.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { deliveryView } from './delivery-view.ts';
import { findJob } from './find-job.ts';
import { jobView } from './job-view.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { readNoBody } from './read-no-body.ts';
import { redeliverProblem, requestRaced } from './redeliver-problem.ts';

/** What can be done with one job, and what became of its news. */
export function jobActRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/:id/poll', demandScope('submit'), async (context) => {
    const { kind, job } = await pollNow(ports, await findJob(ports, context));
    if (kind === 'polled') return context.json(jobView(job), 202);
    if (kind === 'ended') throw hasEnded(job);
    const detail = 'The provider never confirmed this job, and sending it again after so long might bill it twice.';
    throw new Problem(409, 'job_unconfirmed', detail, 'id');
  });

  routes.post('/:id/cancel', demandScope('submit'), async (context) => {
    readNoBody(await context.req.text());
    const { kind, job } = await cancel(ports, await findJob(ports, context));
    if (kind === 'ended') throw hasEnded(job);
    if (kind === 'raced') throw requestRaced();
    return context.json(jobView(job), kind === 'canceled' ? 200 : 202);
  });

  routes.post('/:id/redeliver', demandScope('submit'), async (context) => {
    readNoBody(await context.req.text());
    const result = await redeliverJob(ports, await findJob(ports, context));
    if (result.kind === 'due') return context.json({ deliveries: result.deliveries.map(deliveryView) }, 202);
    throw redeliverProblem(result);
  });

  routes.get('/:id/deliveries', demandScope('read'), async (context) => {
    const { events } = await findJob(ports, context);
    const ids = events.flatMap(({ deliveries = [] }) => deliveries);
    const known = await ports.deliveries.getMany(ids);
    const inOrder = known.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    return context.json({ deliveries: inOrder.map(deliveryView) });
  });

  const acts = ['poll', 'cancel', 'redeliver'].map((name): [string, string] => [`/:id/${name}`, 'POST']);
  refuseOtherMethods(routes, { ...Object.fromEntries(acts), '/:id/deliveries': 'GET' });

  return routes;
}

function hasEnded({ state }: Job): Problem {
  return new Problem(409, 'job_ended', `The job has ended as ${state}.`, 'id');
}
