import { faultsOf } from '../account-standing.ts';
import type { AccountOverview } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import { usedOf } from '../budget-meter.ts';
import { DueSetError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { ApiPorts } from './app.ts';

export interface Health {
  /** `down`: nothing is worked, at least of one account, and somebody should look at it. `degraded`: it passes. */
  status: 'up' | 'degraded' | 'down';
  stage: string;
  /** Without an account: of the service as a whole. */
  faults: { account?: string; code: string }[];
}

/** Anybody may ask: so that it can't be used to run up the bill of Redis, one look is good for so long. */
const cachedMs = 5_000;

/** What keeps the service from its work, by account and code only, and looked up at most once in five seconds. */
export function healthReader(
  ports: Pick<ApiPorts, 'accounts' | 'view' | 'stage'> & { clock: Pick<Clock, 'nowMs'> },
): () => Promise<Health> {
  let looked: { atMs: number; health: Promise<Health> } | undefined;
  return () => {
    const nowMs = ports.clock.nowMs();
    // A clock that has stepped back must not keep an old look for longer.
    if (looked === undefined || Math.abs(nowMs - looked.atMs) >= cachedMs) {
      looked = { atMs: nowMs, health: look(ports) };
    }
    return looked.health;
  };
}

async function look({ accounts, view, stage }: Pick<ApiPorts, 'accounts' | 'view' | 'stage'>): Promise<Health> {
  const looked = await Promise.all(accounts.map((account) => faultsIn(view, account))).catch((error: unknown) => {
    if (error instanceof DueSetError) return [[{ code: 'due_set_unreachable' }]];
    throw error;
  });
  const faults: Health['faults'] = looked.flat();
  const down = faults.some(({ code }) => downCodes.has(code));
  return { status: down ? 'down' : faults.length === 0 ? 'up' : 'degraded', stage, faults };
}

const downCodes: ReadonlySet<string> = new Set(['due_set_unreachable', 'denied', 'not_drained']);

async function faultsIn(view: ApiPorts['view'], account: Account): Promise<Health['faults']> {
  const overview = await view.overview(account.id);
  const codes: string[] = faultsOf(overview.state).map(({ code }) => code);
  if (isUndrained(overview, account)) codes.push('not_drained');
  return codes.map((code) => ({ account: account.id, code }));
}

/** A scheduled drain comes every minute: a job that has been due for so long was left by several. */
const undrainedMs = 600_000;

/** Whether jobs are long due, and it is not a pause, the provider or a budget that keeps them. */
function isUndrained({ state, dueLagMs }: AccountOverview, { limits }: Account): boolean {
  const { paused, breaker, reads } = state;
  // The second half of a day's reads is spread over the day: then a job may well wait for hours.
  const isSpread = limits.readsPerDay !== null && usedOf(reads.day) >= limits.readsPerDay / 2;
  const isHeld = paused?.what === 'all' || breaker !== null || isSpread || reads.told?.left === 0;
  return dueLagMs >= undrainedMs && !isHeld;
}
