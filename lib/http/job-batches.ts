import { Hono } from 'hono';
import { type AdoptResult, accountToAdoptFrom, adopt } from '../adopt.ts';
import { type ItemResult, submitBatch } from '../submit-batch.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { readAdoptBody, readBatchBody } from './batch-body.ts';
import { demandScope } from './caller.ts';
import { itemsView } from './item-view.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { remainingMs } from './remaining-ms.ts';
import { noAccount } from './submit-problem.ts';

/** Taking in many jobs with one request. Each item has its own result. */
export function jobBatchRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/batch', demandScope('submit'), async (context) => {
    const { items } = readBatchBody(await context.req.text());
    const owner = context.get('owner');
    const requests = readable(items).map((item) => ({ owner, ...item }));
    const results = await submitBatch(ports, requests, () => remainingMs(context));
    return context.json(itemsView(inPlace(items, results)));
  });

  routes.post('/adopt', demandScope('submit'), async (context) => {
    const { defaults, items } = readAdoptBody(await context.req.text());
    const request = { owner: context.get('owner'), ...defaults };
    const account = accountToAdoptFrom(ports.accounts, request);
    if (account === null && request.account !== undefined) throw noAccount(request.account);
    if (account === null) {
      const detail = 'Name the account whose workspace these renders are in.';
      throw new Problem(400, 'account_needed', detail, 'account');
    }
    const results = await adopt(ports, { ...request, account }, readable(items), () => remainingMs(context));
    return context.json(itemsView(inPlace(items, results)));
  });

  refuseOtherMethods(routes, { '/batch': 'POST', '/adopt': 'POST' });

  return routes;
}

function readable<Item>(items: readonly (Item | Problem)[]): Item[] {
  return items.flatMap((item) => (item instanceof Problem ? [] : [item]));
}

/** The results of the items that could be read, between the problems of those that could not. */
function inPlace<R extends ItemResult | AdoptResult>(items: readonly object[], results: readonly R[]): (R | Problem)[] {
  const next = results.values();
  return items.flatMap((item) => (item instanceof Problem ? item : (next.next().value ?? [])));
}
