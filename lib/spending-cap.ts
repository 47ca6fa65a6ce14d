import { dayEndMs, dayOf } from './cost.ts';
import { ConfigError, JobStoreError, messageOf } from './errors.ts';
import type { Job } from './job.ts';
import { isObject } from './json.ts';
import type { Log } from './log.ts';
import type { CreateResult, JobStore } from './ports.ts';

/*
 * At most so much money for an owner and UTC day. What a job will cost is reserved before its record is written, so that
 * submits that come at the same time can't pass the cap together, and each job is reserved once. It counts on the day it
 * was accepted, by its estimate, whatever becomes of it. Trouble between the two writes can leave something reserved that
 * was never written: then less is spent that day than the cap allows, never more.
 */

/** What an owner may spend in a UTC day, in millionths of a US dollar, by owner; `*` is for all that are not named. */
export type SpendingCaps = ReadonlyMap<string, number>;

/** A job's share of its owner's day. The same for every try to submit that job on that day. */
export interface Reservation {
  owner: string;
  day: string;
  jobId: string;
  micros: number;
  /** When the job was accepted, ms since 1970. */
  atMs: number;
}

/** `repeated`: this very reservation was made before, moments ago. `refused`: `spentMicros` of the cap are reserved by others. */
export type ReserveResult = { kind: 'reserved' | 'repeated' } | { kind: 'refused'; spentMicros: number };

/** What is reserved of each owner's day. Every call rejects with a JobStoreError and nothing else. */
export interface SpendStore {
  /** Reserves it if no more than the cap is reserved with it. A repeat within the time of a submit counts once. */
  reserve(reservation: Reservation, capMicros: number): Promise<ReserveResult>;
  /** Takes a reservation back that was made moments ago. */
  release(reservation: Reservation): Promise<void>;
}

export interface SpendingPorts {
  store: Pick<JobStore, 'create' | 'get'>;
  log: Log;
  /** Absent: nobody has a cap. */
  spending?: { caps: SpendingCaps; store: SpendStore };
}

/** The job would pass its owner's cap: nothing was written. Amounts in millionths of a US dollar. */
export class SpendingCapReached extends Error {
  override readonly name = 'SpendingCapReached';
  /** When the day is over, ms since 1970. */
  readonly dayEndsAtMs: number;

  constructor(capMicros: number, spentMicros: number, { micros, day }: Reservation) {
    const endsAtMs = dayEndMs(day);
    super(
      `The spending cap is ${dollars(capMicros)} a day; ${dollars(spentMicros)} are reserved today, and this job is ` +
        `estimated at ${dollars(micros)}. The day ends at ${new Date(endsAtMs).toISOString()}.`,
    );
    this.dayEndsAtMs = endsAtMs;
  }
}

/**
 * Creates the job's record if its owner's cap allows. A job that exists already is neither charged nor refused, and one
 * whose price is not known counts as nothing. Rejects with a SpendingCapReached, or with a JobStoreError.
 */
export async function createWithinCap(ports: SpendingPorts, job: Job): Promise<CreateResult> {
  const { store, spending } = ports;
  const capMicros = spending === undefined ? null : capOf(job.owner, spending.caps);
  const reservation = reservationOf(job);
  if (spending === undefined || capMicros === null || reservation.micros === 0) return store.create(job);
  const known = await store.get(job.id);
  if (known !== null) return { kind: 'exists', job: known };
  const answer = await spending.store.reserve(reservation, capMicros);
  if (answer.kind === 'refused') throw new SpendingCapReached(capMicros, answer.spentMicros, reservation);
  const stored = await store.create(job);
  // Another call with this key was faster. What is reserved for its job may be ours: then it stays.
  if (answer.kind === 'reserved' && stored.kind === 'exists' && !isFor(stored.job, reservation)) {
    await release(ports, spending.store, reservation);
  }
  return stored;
}

function capOf(owner: string, caps: SpendingCaps): number | null {
  return caps.get(owner) ?? caps.get('*') ?? null;
}

function reservationOf(job: Job): Reservation {
  const { owner, id: jobId, createdAtMs: atMs, estimatedMicros: micros = 0 } = job;
  return { owner, day: dayOf(atMs), jobId, micros, atMs };
}

function isFor(job: Job, { day, micros }: Reservation): boolean {
  const own = reservationOf(job);
  return own.day === day && own.micros === micros;
}

async function release({ log }: SpendingPorts, store: SpendStore, reservation: Reservation): Promise<void> {
  try {
    await store.release(reservation);
  } catch (error) {
    if (!(error instanceof JobStoreError)) throw error;
    log.warn('reservation_not_released', { jobId: reservation.jobId, error: messageOf(error) });
  }
}

function dollars(micros: number): string {
  return `$${micros / 1e6}`;
}

const capMaxDollars = 1_000_000;
const example = '{"acme":50,"*":20}';

/** What SPENDING_CAPS says: US dollars for each owner and UTC day. Throws a ConfigError that names the owner. */
export function readSpendingCaps(text: string | undefined): SpendingCaps {
  if (text === undefined || text.trim() === '') return new Map();
  let caps: unknown;
  try {
    caps = JSON.parse(text);
  } catch {
    throw new ConfigError(`SPENDING_CAPS is not JSON; expected ${example}`);
  }
  if (!isObject(caps)) throw new ConfigError(`SPENDING_CAPS is not an object; expected ${example}`);
  return new Map(Object.entries(caps).map(([owner, cap]) => [owner, readCap(owner, cap)]));
}

function readCap(owner: string, cap: unknown): number {
  const wrong = (what: string) =>
    new ConfigError(`SPENDING_CAPS entry "${owner.slice(0, 64)}" ${what}; expected ${example}`);
  if (owner !== '*' && !/^[\w.-]{1,64}$/.test(owner)) {
    throw wrong('is no valid owner (1 to 64 of A-Z a-z 0-9 _ . -), nor * for all others');
  }
  const micros = typeof cap === 'number' ? Math.round(cap * 1e6) : Number.NaN;
  if (!(micros >= 1 && micros <= capMaxDollars * 1e6)) {
    throw wrong(`must be a number of US dollars above 0, up to ${capMaxDollars}`);
  }
  return micros;
}
