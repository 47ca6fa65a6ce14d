import { Hono } from 'hono';
import { mayOperate, visibleAccounts } from '../account-access.ts';
import { faultsOf } from '../account-standing.ts';
import type { Account } from '../accounts.ts';
import { type CostTotal, dayOf } from '../cost.ts';
import { JobStoreError, messageOf } from '../errors.ts';
import { accountBody } from './account-body.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { hookStats } from './hook-stats.ts';
import { isoOrNull } from './iso.ts';
import { refuseOtherMethods } from './other-methods.ts';

/** Days of costs: today and those before it, UTC. */
const costDays = 7;
const dayMs = 86_400_000;

/** How the accounts that the caller may use or operate are doing, and what they have cost. */
export function statsRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/', demandScope('read'), async (context) => {
    const owner = context.get('owner');
    const accounts = visibleAccounts(owner, ports.accounts);
    const [costs, hooks, ...looked] = await Promise.all([
      costsOf(ports, owner, accounts),
      hookStats(ports, accounts),
      ...accounts.map(async (account) => ({ account, overview: await ports.view.overview(account.id) })),
    ]);
    const faults = looked.flatMap(({ account, overview }) =>
      faultsOf(overview.state).map(({ code, sinceMs }) => ({ account: account.id, code, since: isoOrNull(sinceMs) })),
    );
    const bodies = looked.map(({ account, overview }) => ({
      ...accountBody(account, overview),
      due_lag_ms: overview.dueLagMs,
      hooks: hooks.get(account.id) ?? null,
    }));
    return context.json({ at: isoOrNull(ports.clock.nowMs()), accounts: bodies, faults, costs });
  });

  refuseOtherMethods(routes, { '/': 'GET' });

  return routes;
}

/**
 * What ended on the last days: `own`, the caller's on each account; `accounts`, everybody's, on those that the caller
 * operates. Null without a ledger, or when it can't be read: the rest is shown all the same.
 */
async function costsOf({ ledger, clock, log }: ApiPorts, owner: string, accounts: readonly Account[]) {
  if (ledger === undefined) return null;
  const nowMs = clock.nowMs();
  const days = Array.from({ length: costDays }, (_, back) => dayOf(nowMs - back * dayMs));
  const operated = accounts.filter((account) => mayOperate(owner, account));
  try {
    const [own, all] = await Promise.all([
      ledger.read(days, idsOf(accounts), owner),
      ledger.read(days, idsOf(operated), null),
    ]);
    return { own: own.map(costView), accounts: all.map(costView) };
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    log.warn('ledger_unread', { error: messageOf(error) });
    return null;
  }
}

function idsOf(accounts: readonly Account[]): string[] {
  return accounts.map(({ id }) => id);
}

function costView({ day, account, jobs, estimatedMicros, billedMicros }: CostTotal) {
  return { day, account, jobs, estimated_usd_micros: estimatedMicros, billed_usd_micros: billedMicros };
}
