import type { Job, JobState } from './job.ts';
import type { Outcome } from './outcome.ts';

/* What the use cases ask of the outside: the smallest set of calls that they use. Adapters live in the folders. */

/** The right to work a job until the lease ends, or is renewed. */
export interface Claim {
  id: string;
  dueAtMs: number;
  /** Shown when settling; a later claim's token is always larger. What is in it: lease.ts. */
  token: string;
  /** Times in a row that the job was claimed and never settled, this one included: 1…15. */
  claims: number;
  /** Only of a job that waited and was admitted by this very claim: its place in line, should it have to go back there. */
  rank?: string;
}

/**
 * What a drain hands back: a new due time, removal, its old place among those that wait, or the same lease under a later
 * token. Safe to repeat.
 */
export interface Settlement {
  id: string;
  token: string;
  to:
    | { kind: 'due'; atMs: number }
    | { kind: 'remove' }
    | { kind: 'wait'; rank: string; newcomer?: Newcomer }
    | { kind: 'renew'; token: string };
}

/** Of a job that may never have been in line before: what the line must know of it. */
export interface Newcomer {
  owner: string;
  priority: number;
  deadlineAtMs: number;
}

/**
 * One drain is the `first` on its set, with the longest window; a `further` one is needed only while it has work, and
 * carries the mark by which it knows whether the first still ticks. A `helper` was started by a drain that fell behind,
 * and leaves by its own rule.
 */
type DrainRole = 'first' | `further ${string}` | 'helper';

export interface ExchangeRequest {
  settlements: readonly Settlement[];
  claimMax: number;
  /** Ms until the caller's window ends; after that it claims no more. */
  windowMs: number;
  /** `new` on the first tick, then what the last reply said. */
  role: 'new' | DrainRole;
  /** Ids that the caller still works on, not counting those settled here. */
  inHand: number;
  /** What the caller has newly heard of the provider as a whole. */
  provider?: ProviderNews | undefined;
  /** New jobs that it can send now; none without it. */
  admitMax?: number;
  /** Calls that it made since its last exchange beyond one read a claim and one create an admission. */
  extraCalls?: { reads: number; creates: number };
  /** The newest that the provider's headers have told. */
  told?: { reads?: CallsLeft; creates?: CallsLeft };
  creates?: CreateNews | undefined;
}

/** How many calls of a kind the provider still takes, within `forMs` from now. */
export interface CallsLeft {
  left: number;
  forMs: number;
}

/**
 * `fails`: nothing but failures for a while. `held`: a 429 asked to stay away for `waitMs`. `denied`: the key is refused.
 * `works`: a probe came through. `recovers`: it still does. `meanGapMs` is the time between two reads of one job, by which
 * the due set knows its steady rate.
 */
export interface ProviderNews {
  kind: 'fails' | 'held' | 'denied' | 'works' | 'recovers';
  meanGapMs: number;
  waitMs?: number;
}

/**
 * What became of the creates since the last exchange: one was taken, or one was refused for want of a slot, because of
 * the key, or for want of credit. `waitMs`: how long none is to be sent, 0 when the provider did not say.
 */
export interface CreateNews {
  kind: 'created' | 'no_slot' | 'denied' | 'no_credit';
  waitMs: number;
}

/**
 * The account's circuit breaker, shared by all drains. `open`: the provider fails, two probes at a time are all that is
 * claimed. `held`: it has asked to stay away. `denied`: it refuses the key, one probe every 20 s. `recovering`: claims come
 * `gapMs` apart until what waited meanwhile is worked off.
 */
export type BreakerState =
  | { kind: 'closed' }
  | { kind: 'open' }
  | { kind: 'held' }
  | { kind: 'denied' }
  | { kind: 'recovering'; gapMs: number };

export interface ExchangeReply {
  /** The due set's own clock, ms since 1970. */
  nowMs: number;
  claimed: Claim[];
  /** Ids whose token no longer held: somebody else claimed them, or the set was wiped. Nothing was changed for them. */
  stale: string[];
  /**
   * What the caller is from now on. `leave`: nothing is in hand and nothing falls due before its window ends. `covered`:
   * nothing is in hand, and the first drain goes on for as long.
   */
  role: DrainRole | 'leave' | 'covered';
  /** The earliest due time or lease end among the others, ms; null when there are none. */
  nextDueAtMs: number | null;
  breaker: BreakerState;
}

/** A job that is to be due `delayMs` from now. */
export interface Entry {
  id: string;
  delayMs: number;
  /** Of one that leaves the line for good: its place is its owner's next job's. */
  leaves?: { owner: string; priority: number };
}

/** A new job that waits for a slot; looked at once more in `expiresInMs`, should it wait for so long. */
export interface WaitingEntry {
  id: string;
  owner: string;
  /** 0…9, 9 first. */
  priority: number;
  expiresInMs: number;
}

/** One account's due set, and the jobs that wait to come into it. Every call rejects with a DueSetError and nothing else. */
export interface DueSet {
  exchange(request: ExchangeRequest): Promise<ExchangeReply>;
  /**
   * Makes ids due that are not, and takes them out of line; `pull` also makes those due sooner that are there, due later and not leased. `wake`: no
   * drain is awake and the caller must wake one.
   */
  schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }>;
  /** Puts jobs in line to be admitted, by priority, then in turn by owner, unless they are there or due already. */
  enqueue(entries: readonly WaitingEntry[]): Promise<{ added: number; wake: boolean }>;
  /** Makes due what waits past its deadline, and sets the account's marks right. `expired`: how many there were. */
  tidy(): Promise<{ expired: number; wake: boolean }>;
  /** How many ids it holds, waiting ones included; and whether the account is paused or drained. */
  workload(): Promise<{ jobs: number; paused: boolean }>;
  /** The set's own clock, ms since 1970: due times and `notBeforeMs` are on it. */
  nowMs(): Promise<number>;
  /**
   * Those of the ids that are not due, now or later; one that only waits is among them. One whose score lies beyond any due
   * time of ours is taken out first, and is among them too.
   */
  absent(ids: readonly string[]): Promise<string[]>;
}

/** Which accounts have work. */
export interface BusyAccounts {
  /** Rejects with a DueSetError. */
  ids(): Promise<ReadonlySet<string>>;
}

/** Where an account's jobs become due, and who is told of it. */
export interface Queue {
  dueSet: Pick<DueSet, 'schedule' | 'enqueue' | 'tidy' | 'absent' | 'workload' | 'nowMs'>;
  waker: Waker;
}

/** By account id. */
export type Queues = ReadonlyMap<string, Queue>;

export type CreateResult = { kind: 'created' } | { kind: 'exists'; job: Job };
export type UpdateResult = { kind: 'updated'; job: Job } | { kind: 'stale' };

/** A stored item that can't be read as a job. It stays where it is; the reason names the field. */
export interface BrokenJob {
  id: string;
  reason: string;
}

export interface JobPage {
  jobs: Job[];
  /** Where the next page starts; null at the end. */
  next: ListPosition | null;
}

export interface ListPosition {
  id: string;
  createdAtMs: number;
}

export interface ListQuery {
  state?: JobState;
  /** The batch's name. */
  batch?: string;
  limit: number;
  after?: ListPosition;
}

/** The durable record. Every call rejects with a JobStoreError and nothing else. */
export interface JobStore {
  create(job: Job): Promise<CreateResult>;
  /** Consistent read; null when there is none (or it is past its retention). */
  get(id: string): Promise<Job | null>;
  /** Consistent reads of many; `absent` ids have no record for certain. */
  getMany(ids: readonly string[]): Promise<{ jobs: Job[]; broken: BrokenJob[]; absent: string[] }>;
  /** Writes the job if its stored revision is still `job.revision`; the result carries the new revision. */
  update(job: Job): Promise<UpdateResult>;
  /** An owner's jobs, newest first, or those of one of its batches, by id. A page may be short of `limit` while `next` is not null. */
  list(owner: string, query: ListQuery): Promise<JobPage>;
  /** One page of ids of active jobs in a shard, from an index that may be slightly stale. */
  activeIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }>;
}

/** A call under way, for the one who may have to end it. */
export interface Call {
  /** Set by the provider's client while something is under way: ends it at once, as if the connection had broken. */
  abort?: () => void;
  /** Set by the caller who has aborted it, or wants nothing more to begin: the lease is lost. */
  lost?: boolean;
  /** Requests made so far: one is counted by the caller, each that follows by the provider's client. */
  requests?: number;
  /** Set by the provider's client: what the newest answer's headers said of further calls of its kind. */
  left?: CallsLeft;
}

/** One account at a video provider. Never rejects: every answer and every failure is an outcome. */
export interface Provider {
  /** Sends the render under the job's own idempotency key, so that a repeat returns the same render. */
  create(job: Job, call?: Call): Promise<Outcome>;
  /** Reads the status once; when it says completed, fetches the result too. */
  read(job: Job, call?: Call): Promise<Outcome>;
  /** Asks for the render to be ended, safe to repeat. What came of it, only a read tells. Absent where it can't be asked for. */
  cancel?(job: Job, call?: Call): Promise<CancelOutcome>;
}

/**
 * `told`: the provider has taken note, or has nothing left to cancel. Every other one is an outcome of a call that said
 * nothing of the render, and the cancel is to be sent again.
 */
export type CancelOutcome =
  | { kind: 'told' }
  | Extract<Outcome, { kind: 'missing' | 'throttled' | 'denied' | 'trouble' }>;

/** Starts a drain now, without waiting for it. Never rejects: the schedule starts the next one anyway. */
export interface Waker {
  wake(as?: 'helper'): Promise<void>;
}

/** Where time and chance come from; tests pass their own. */
export interface Clock {
  /** Wall time, ms since 1970. May be wrong and may step. */
  nowMs(): number;
  /** Ms from an arbitrary start; never steps back. */
  monotonicMs(): number;
  /** Resolves no earlier than `delayMs` later on the monotonic clock, or at once when `signal` aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** A number in [0, 1). */
export type Random = () => number;
