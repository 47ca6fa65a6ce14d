import type { Job, Usage } from './job.ts';

/* Money, in millionths of a US dollar. Days are UTC days, written yyyy-mm-dd. */

/** What jobs of one owner on one account, which ended on one day, were estimated and billed at, in total. */
export interface CostEntry {
  day: string;
  account: string;
  owner: string;
  jobs: number;
  /** Of jobs whose price is known. */
  estimatedMicros: number;
  /** Of jobs for which the provider has told what it charged. */
  billedMicros: number;
}

/** A day's total of an account: of one owner, or with `owner` null of all of them. */
export interface CostTotal extends Omit<CostEntry, 'owner'> {
  owner: string | null;
}

/**
 * Totals for each day, account and owner. An overview: a drain that was killed has not added what it saw end, and a write
 * whose answer was lost may be counted twice. Each job's own figures are exact. Every call rejects with a JobStoreError.
 */
export interface Ledger {
  /** May have added some of the entries when it rejects: not to be repeated. */
  add(entries: readonly CostEntry[]): Promise<void>;
  /** Of one owner, or with null of all owners together. Days and accounts without an ended job are left out. */
  read(days: readonly string[], accounts: readonly string[], owner: string | null): Promise<CostTotal[]>;
}

/** The UTC day of a time in ms. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** When a day is over, ms since 1970. */
export function dayEndMs(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`) + 24 * 3_600_000;
}

/** What the provider has charged for a job by its own word; null while that is open. */
export function billedMicros(usage: Usage | undefined): number | null {
  if (usage === undefined) return null;
  const { capturedMicros, refundedMicros = 0, billableMicros } = usage;
  const status = usage.status?.toLowerCase();
  // Only reserved so far: nothing is captured yet, which is not to say that nothing will be.
  if (status === 'reserved') return null;
  // A reservation that was given back counts as refunded too, without ever having been captured.
  if (capturedMicros !== undefined) return Math.max(0, capturedMicros - refundedMicros);
  if (status === 'captured') return billableMicros ?? null;
  return status === 'refunded' ? 0 : null;
}

/**
 * What one run saw end, added up in memory. A job that was given up is left out: it may yet be asked for again, and
 * counts when it has really ended.
 */
export class CostTally {
  #entries = new Map<string, CostEntry>();

  /** To be called once for each job that this run has brought to its end. */
  ended(job: Job): void {
    if (job.state === 'given_up') return;
    const { account, owner } = job;
    const day = dayOf(job.finishedAtMs ?? job.updatedAtMs);
    const key = `${day} ${account} ${owner}`;
    const sum = this.#entries.get(key) ?? { day, account, owner, jobs: 0, estimatedMicros: 0, billedMicros: 0 };
    this.#entries.set(key, {
      ...sum,
      jobs: sum.jobs + 1,
      estimatedMicros: sum.estimatedMicros + (job.estimatedMicros ?? 0),
      billedMicros: sum.billedMicros + (billedMicros(job.usage) ?? 0),
    });
  }

  /** Everything since the last time. */
  take(): CostEntry[] {
    const entries = [...this.#entries.values()];
    this.#entries = new Map();
    return entries;
  }
}
