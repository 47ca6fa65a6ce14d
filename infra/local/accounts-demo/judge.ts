import { admissionsIn, type Evidence, type SeenSecond } from './evidence.ts';
import { roundsIn } from './rounds.ts';
import { slotUse } from './slot-use.ts';

export interface Refusals {
  total: number;
  afterFirstMinute: number;
}

export interface AccountFigures {
  id: string;
  jobs: number;
  /** Of the slots that could have been used while anything waited, after the first minute; 0 to 1. */
  slotsUsed: number | null;
  mostInFlight: number;
  perMinuteMost: { reads: number; creates: number };
  createsRefused: Refusals;
  readsRefused: Refusals;
}

export interface OwnerFigures {
  owner: string;
  jobs: number;
  completed: number;
  /** From acceptance to the create at the provider; null when none was admitted. */
  waitSeconds: { median: number; worst: number } | null;
  worstRounds: number | null;
}

/** What has to hold, in the words of the closing line. */
export const criteria = {
  createsRefused: 'no create refused after the first minute',
  readsRefused: 'no read refused after the first minute',
  slotsUsed: 'slots used to 95 % while anything waited',
  slotsExceeded: 'never more jobs than slots',
  rounds: 'small owners admitted within 2 rounds',
  completed: 'everything completed',
  billed: 'billed = submitted',
} as const;
export type Criterion = keyof typeof criteria;

export interface Verdict {
  ok: boolean;
  failed: Criterion[];
  submitted: number;
  completed: number;
  billed: number;
  accounts: AccountFigures[];
  owners: OwnerFigures[];
}

const firstMinuteMs = 60_000;
const slotsUsedMin = 0.95;
const roundsMax = 2;

/** Holds what the provider saw against what has to hold. */
export function judge(evidence: Evidence): Verdict {
  const accounts = evidence.accounts.map(({ id }) => accountFigures(evidence, id));
  const owners = [...new Set(evidence.sent.map(({ owner }) => owner))].map((owner) => ownerFigures(evidence, owner));
  const submitted = evidence.sent.length;
  const completed = evidence.sent.filter((job) => job.completed).length;
  const billed = evidence.renders.length;
  const small = owners.filter(({ owner }) => owner !== evidence.flooder);
  const held: Record<Criterion, boolean> = {
    createsRefused: accounts.every(({ createsRefused }) => createsRefused.afterFirstMinute === 0),
    readsRefused: accounts.every(({ readsRefused }) => readsRefused.afterFirstMinute === 0),
    // Where nothing ever waited nothing was shown.
    slotsUsed:
      accounts.length > 0 && accounts.every(({ slotsUsed }) => slotsUsed !== null && slotsUsed >= slotsUsedMin),
    slotsExceeded: accounts.every(({ mostInFlight }) => mostInFlight <= evidence.slots),
    rounds: small.length > 0 && small.every(({ worstRounds }) => worstRounds !== null && worstRounds <= roundsMax),
    completed: submitted > 0 && completed === submitted && evidence.renders.every((render) => render.completed),
    billed: submitted > 0 && billed === submitted && admissionsIn(evidence).length === submitted,
  };
  const failed = (Object.keys(criteria) as Criterion[]).filter((name) => !held[name]);
  return { ok: failed.length === 0, failed, submitted, completed, billed, accounts, owners };
}

function accountFigures(evidence: Evidence, id: string): AccountFigures {
  const { startedAtMs, slots } = evidence;
  const fromMs = startedAtMs + firstMinuteMs;
  const admissions = admissionsIn(evidence).filter(({ account }) => account === id);
  const { share, mostInFlight } = slotUse(admissions, slots, fromMs);
  const seen = evidence.accounts.find((account) => account.id === id);
  const seconds = seen?.seconds ?? [];
  const refused = (count: (second: SeenSecond) => number): Refusals => ({
    total: sum(seconds.map(count)),
    // A second that lies on the border counts as after it.
    afterFirstMinute: sum(seconds.filter(({ atSecond }) => (atSecond + 1) * 1000 > fromMs).map(count)),
  });
  return {
    id,
    jobs: admissions.length,
    slotsUsed: share,
    mostInFlight,
    perMinuteMost: seen?.perMinuteMost ?? { reads: 0, creates: 0 },
    createsRefused: refused((second) => second.createsRefusedForRate + second.createsRefusedForRoom),
    readsRefused: refused((second) => second.readsRefused),
  };
}

function ownerFigures(evidence: Evidence, owner: string): OwnerFigures {
  const admissions = admissionsIn(evidence);
  const sent = evidence.sent.filter((job) => job.owner === owner);
  const waits = admissions
    .filter((job) => job.owner === owner)
    .map(({ acceptedAtMs, createdAtMs }) => (createdAtMs - acceptedAtMs) / 1000)
    .sort((a, b) => a - b);
  const rounds = evidence.accounts
    .flatMap(({ id }) => roundsIn(admissions.filter(({ account }) => account === id)))
    .flatMap((job) => (job.owner === owner ? [job.rounds] : []));
  const all = waits.length === sent.length && waits.length > 0;
  return {
    owner,
    jobs: sent.length,
    completed: sent.filter(({ completed }) => completed).length,
    waitSeconds:
      waits.length === 0 ? null : { median: waits[Math.floor(waits.length / 2)] ?? 0, worst: waits.at(-1) ?? 0 },
    // One that was never admitted has waited for ever.
    worstRounds: all ? Math.max(...rounds) : null,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
