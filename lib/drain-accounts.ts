import { type DrainPorts, type DrainSettings, drain } from './drain.ts';
import { type DrainReport, sumOf } from './drain-report.ts';
import { DueSetError, messageOf } from './errors.ts';
import type { Log } from './log.ts';
import type { BusyAccounts } from './ports.ts';

/*
 * One run of the drain function: a drain for each account that has work, side by side. They share a process and nothing
 * else; one account's trouble is its own.
 */

/** What drains one account. */
export interface AccountDrain {
  account: string;
  ports: DrainPorts;
  settings: DrainSettings;
}

/**
 * Which drains are meant: by the schedule, those of all accounts; by a submit or a drain, one account's. A scheduled event
 * has fields of its own, among them `account` (of AWS) and `id`: ours must not be called so.
 */
export interface DrainEvent {
  /** An account's id. */
  only?: unknown;
  /** True when a drain that falls behind asks for help. */
  helper?: unknown;
}

/** Never rejects on trouble outside. `remainingMs` tells the time that the process has left. */
export async function drainAccounts(
  { drains, busy, log }: { drains: readonly AccountDrain[]; busy: BusyAccounts; log: Log },
  event: DrainEvent,
  remainingMs: () => number,
): Promise<DrainReport> {
  const as = event.helper === true ? 'helper' : undefined;
  const wanted = event.only === undefined ? await withWork(drains, busy, log) : named(drains, event.only, log);
  const run = async ({ account, ports, settings }: AccountDrain) => {
    const report = await drain(ports, settings, remainingMs, as);
    log.info('drain_ended', { account, ...report });
    return report;
  };
  return sumOf(await Promise.all(wanted.map(run)));
}

function named(drains: readonly AccountDrain[], account: unknown, log: Log): readonly AccountDrain[] {
  const wanted = drains.filter((one) => one.account === account);
  if (wanted.length === 0) log.error('account_unknown', { account: String(account).slice(0, 64) });
  return wanted;
}

/** With one account there is nothing to ask: its drain finds out by itself. Without an answer all of them are run. */
async function withWork(
  drains: readonly AccountDrain[],
  busy: BusyAccounts,
  log: Log,
): Promise<readonly AccountDrain[]> {
  if (drains.length < 2) return drains;
  try {
    const ids = await busy.ids();
    return drains.filter(({ account }) => ids.has(account));
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    log.warn('busy_unknown', { code: error.code, error: messageOf(error) });
    return drains;
  }
}
