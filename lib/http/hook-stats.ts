import type { Account } from '../accounts.ts';
import { JobStoreError, messageOf } from '../errors.ts';
import { areTrusted, hookHour, sumOf, trustedHours } from '../hooks/hook-health.ts';
import type { ApiPorts } from './app.ts';

const shownHours = 24;

/** Of one account: what came of the provider's own word of ends in the last 24 hours, and whether reads are slowed for it now. */
export interface HookStats {
  arrived: number;
  missed: number;
  late: number;
  reads_slowed: boolean;
}

/** By account id; without those that have no hooks, and empty when the counts can't be read: the rest is shown all the same. */
export async function hookStats(
  { hooks, clock, log }: Pick<ApiPorts, 'hooks' | 'clock' | 'log'>,
  accounts: readonly Account[],
): Promise<ReadonlyMap<string, HookStats>> {
  const ids = accounts.map(({ id }) => id).filter((id) => hooks?.secrets.has(id));
  if (hooks === undefined || ids.length === 0) return new Map();
  const nowMs = clock.nowMs();
  const newest = hookHour(nowMs);
  const hours = Array.from({ length: shownHours }, (_, back) => newest - back);
  try {
    const tallies = await hooks.counts.read(ids, hours);
    const trusted = trustedHours(nowMs);
    return new Map(
      ids.map((id) => {
        const own = tallies.filter(({ account }) => account === id);
        const lately = own.filter(({ hour }) => trusted.includes(hour));
        return [id, { ...sumOf(own), reads_slowed: areTrusted(sumOf(lately)) }];
      }),
    );
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    log.warn('hook_counts_unread', { error: messageOf(error) });
    return new Map();
  }
}
