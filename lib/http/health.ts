import { faultsOf } from '../account-standing.ts';
import { DueSetError } from '../errors.ts';
import type { ApiPorts } from './app.ts';

export interface Health {
  status: 'up' | 'degraded';
  stage: string;
  /** Without an account: of the service as a whole. */
  faults: { account?: string; code: string }[];
}

/** Anybody may ask: so that it can't be used to run up the bill of Redis, one look is good for so long. */
const cachedMs = 5_000;

/** What keeps the service from its work, by account and code only, and looked up at most once in five seconds. */
export function healthReader(ports: Pick<ApiPorts, 'accounts' | 'view' | 'clock' | 'stage'>): () => Promise<Health> {
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
  const faults = await Promise.all(accounts.map(({ id }) => faultsIn(view, id))).catch((error: unknown) => {
    if (error instanceof DueSetError) return [[{ code: 'due_set_unreachable' }]];
    throw error;
  });
  const all: Health['faults'] = faults.flat();
  return { status: all.length === 0 ? 'up' : 'degraded', stage, faults: all };
}

async function faultsIn(view: ApiPorts['view'], account: string): Promise<Health['faults']> {
  const { state } = await view.overview(account);
  return faultsOf(state).map(({ code }) => ({ account, code }));
}
