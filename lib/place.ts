import { type Account, accountsOf } from './accounts.ts';
import { DueSetError } from './errors.ts';
import type { Queues } from './ports.ts';

/**
 * The account that a new job of the owner goes to: the wanted one, or of those that the owner may use the one with the
 * fewest jobs for its weight, a paused one only if there is no other. Null when there is none, or the wanted one is not
 * the owner's.
 */
export async function place(
  accounts: readonly Account[],
  queues: Queues,
  owner: string,
  wanted?: string,
): Promise<string | null> {
  const allowed = accountsOf(owner, accounts);
  if (wanted !== undefined) return allowed.some(({ id }) => id === wanted) ? wanted : null;
  return (await placeMany(accounts, queues, owner, 1))[0] ?? null;
}

/** The accounts that `count` new jobs of the owner go to that name none: each where there is least to do by then. */
export async function placeMany(
  accounts: readonly Account[],
  queues: Queues,
  owner: string,
  count: number,
): Promise<string[]> {
  const allowed = accountsOf(owner, accounts);
  const [only] = allowed;
  if (only === undefined || count === 0) return [];
  if (allowed.length === 1) return new Array(count).fill(only.id);
  const loads = await loadsOf(allowed, queues);
  const open = loads.filter(({ paused }) => !paused);
  return Array.from({ length: count }, () => {
    const least = leastLoaded(open.length === 0 ? loads : open);
    least.jobs++;
    return least.account.id;
  });
}

/** An account and how much it has to do. */
interface Load {
  account: Account;
  jobs: number;
  paused: boolean;
}

/** The one with the fewest jobs for its weight; the first of equals. There is at least one. */
function leastLoaded(loads: readonly Load[]): Load {
  const perWeight = ({ account, jobs }: Load) => jobs / account.weight;
  return loads.reduce((least, load) => (perWeight(load) < perWeight(least) ? load : least));
}

/** Without Redis they count as equal: a job is taken in all the same. */
async function loadsOf(accounts: readonly Account[], queues: Queues): Promise<Load[]> {
  const none = { jobs: 0, paused: false };
  const load = async (account: Account) => ({
    account,
    ...((await queues.get(account.id)?.dueSet.workload()) ?? none),
  });
  try {
    return await Promise.all(accounts.map(load));
  } catch (error) {
    if (!(error instanceof DueSetError)) throw error;
    return accounts.map((account) => ({ account, ...none }));
  }
}
