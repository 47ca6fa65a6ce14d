import { type Account, accountsOf } from './accounts.ts';
import { JobStoreError, messageOf } from './errors.ts';
import { jobIdFor } from './identify.ts';
import { inParallel } from './in-parallel.ts';
import { placeMany } from './place.ts';
import { type Refusal, type RefusalPorts, refusalOf } from './refusal.ts';
import { SpendingCapReached } from './spending-cap.ts';
import { lookUp, putInLine, type SubmitPorts, type SubmitRequest, type SubmitResult, writeDown } from './submit.ts';

/*
 * Many jobs in one request, each with its own key and its own result: what is wrong with one is nothing to the others.
 * What they have in common is done once: placing, the batch's note that jobs are coming, the look at a webhook's endpoint.
 */

export type BatchPorts = SubmitPorts & RefusalPorts & { accounts: readonly Account[] };

/** As of a submit; an item that names no account is placed. */
export type BatchRequest = Omit<SubmitRequest, 'account' | 'accountNamed'> & { account?: string };

/**
 * `no_account`: none is open to the owner, or not the one it named. `failed`: the record could not be read or written.
 * `not_tried`: there was no time left. After both the item may be sent again under its key.
 */
export type ItemResult =
  | SubmitResult
  | Refusal
  | { kind: 'no_account'; wanted?: string }
  | { kind: 'capped'; error: SpendingCapReached }
  | { kind: 'failed'; error: JobStoreError }
  | { kind: 'not_tried' };

const width = 25;
/** Kept for the writes under way, and for putting in line what has been written. */
const marginMs = 9_000;

/** Results in the order of the requests, which are all of one owner. Never rejects for what is wrong with single ones. */
export async function submitBatch(
  ports: BatchPorts,
  requests: readonly BatchRequest[],
  remainingMs: () => number,
): Promise<ItemResult[]> {
  const placed = await placeAll(ports, requests);
  const refusals = new SharedRefusals(ports);
  const results: ItemResult[] = requests.map(() => ({ kind: 'not_tried' }));
  // Those with one key one after another: the first is the job, the others are its repeats.
  await inParallel(byKey(requests), width, async (indexes) => {
    for (const [repeats, index] of indexes.entries()) {
      if (remainingMs() < marginMs) return;
      const request = placed[index];
      if (request === undefined) continue;
      results[index] = 'kind' in request ? request : await take(ports, request, refusals, repeats > 0);
    }
  });
  const taken = new Map(results.flatMap((result) => (result.kind === 'accepted' ? [[result.job.id, result.job]] : [])));
  await putInLine(ports, [...taken.values()]);
  return results;
}

type Placed = SubmitRequest | Extract<ItemResult, { kind: 'no_account' }>;

async function placeAll({ accounts, queues }: BatchPorts, requests: readonly BatchRequest[]): Promise<Placed[]> {
  const owner = requests[0]?.owner ?? '';
  const own = accountsOf(owner, accounts).map(({ id }) => id);
  const unnamed = requests.filter(({ account }) => account === undefined).length;
  const places = (await placeMany(accounts, queues, owner, unnamed)).values();
  return requests.map((request) => {
    const { account: wanted, ...rest } = request;
    if (wanted !== undefined && !own.includes(wanted)) return { kind: 'no_account', wanted };
    const account = wanted ?? places.next().value;
    return account === undefined ? { kind: 'no_account' } : { ...rest, account, accountNamed: wanted !== undefined };
  });
}

function byKey(requests: readonly BatchRequest[]): number[][] {
  const indexes = new Map<string, number[]>();
  for (const [index, { owner, idempotencyKey }] of requests.entries()) {
    const id = jobIdFor(owner, idempotencyKey);
    const known = indexes.get(id);
    if (known === undefined) indexes.set(id, [index]);
    else known.push(index);
  }
  return [...indexes.values()];
}

async function take(
  ports: BatchPorts,
  request: SubmitRequest,
  refusals: SharedRefusals,
  isRepeat: boolean,
): Promise<ItemResult> {
  try {
    const { batch, webhookUrl } = request;
    // Before anything is written for a new one. And a repeat's own write, so soon after the first, could be taken for that one's.
    const mayBeKnown = isRepeat || batch !== undefined || webhookUrl !== undefined;
    const known = mayBeKnown ? await lookUp(ports, request) : null;
    return known ?? (await refusals.of(request)) ?? (await writeDown(ports, request));
  } catch (error) {
    if (error instanceof SpendingCapReached) return { kind: 'capped', error };
    if (!(error instanceof JobStoreError)) throw error;
    ports.log.error('item_failed', { jobId: jobIdFor(request.owner, request.idempotencyKey), error: messageOf(error) });
    return { kind: 'failed', error };
  }
}

/** What keeps new jobs out is looked up once for all that are alike in it. */
class SharedRefusals {
  readonly #ports: RefusalPorts;
  readonly #known = new Map<string, Promise<Refusal | null>>();

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  of(request: { owner: string; batch?: string; webhookUrl?: string }): Promise<Refusal | null> {
    const name = JSON.stringify([request.owner, request.batch ?? null, request.webhookUrl ?? null]);
    const known = this.#known.get(name) ?? refusalOf(this.#ports, request);
    this.#known.set(name, known);
    return known;
  }
}
