import { beforeDeadline, pollDefaultMs } from '../due.ts';
import { messageOf } from '../errors.ts';
import type { Job } from '../job.ts';
import type { Log } from '../log.ts';
import { type HookConfig, hookUrlFor } from './hook-config.ts';
import {
  areTrusted,
  endHour,
  type HookCounts,
  type HookTally,
  type HourTally,
  noHooksSeen,
  sumOf,
  trustedHours,
  wasToBeTold,
} from './hook-health.ts';

/*
 * One account's reads while the provider tells of ends itself: fewer of them, for as long as its word comes. And what comes of
 * it, counted. One for each account and process; it does nothing for an account or a job without hooks.
 */

export interface HookPacePorts {
  counts: HookCounts;
  log: Log;
}

/** A slowed read comes at the told wait times this, at `slowedMaxMs` at most. */
const slowedTimes = 4;
const slowedMaxMs = 120_000;
/** The counts of all drains are looked up this often at most, and are good for as long. */
const knownForMs = 60_000;
/** A read this much before its time was pulled forward. */
const pulledByMs = 1_000;
const jobsMax = 20_000;

export class HookPace {
  readonly #ports: HookPacePorts;
  readonly #account: string;
  readonly #config: HookConfig | null;
  /** Seen by this process, and not yet written; by hour. */
  #unwritten = new Map<number, HookTally>();
  #known: readonly HourTally[] = [];
  #knownAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  /** When jobs are due that were slowed, ms; never, once they were pulled forward. */
  readonly #slowed = new Map<string, number>();

  constructor(ports: HookPacePorts, account: string, config: HookConfig | null) {
    this.#ports = ports;
    this.#account = account;
    this.#config = config;
  }

  /** A job that waits, as it is sent: with the address at which its end is to be told, if it is. */
  withHook(job: Job): Job {
    const { hookUrl: _, ...rest } = job;
    const hookUrl = hookUrlFor(this.#config, job);
    return hookUrl === undefined ? rest : { ...rest, hookUrl };
  }

  /**
   * When a job that a read has just met running is read next, instead of at `dueAtMs`. Never before that, never past its deadline.
   * All are ms since 1970 on the due set's clock. Waits for nothing: until the counts are known, no read is slowed.
   */
  slowed(job: Job, dueAtMs: number, nowMs: number): number {
    const isRunning = job.state === 'queued' || job.state === 'processing';
    if (!isRunning || !this.#isOn(job) || job.cancelAskedAtMs !== undefined) return dueAtMs;
    if (this.#isTold(job, nowMs) || !this.#areTrusted(nowMs)) return dueAtMs;
    const waitMs = Math.min(Math.max(dueAtMs - nowMs, pollDefaultMs) * slowedTimes, slowedMaxMs);
    const atMs = Math.max(dueAtMs, beforeDeadline(nowMs + waitMs, job.deadlineAtMs, nowMs));
    this.#remember(job.id, atMs);
    return atMs;
  }

  /** The job's end is in the record, by this process. */
  ended(job: Job): void {
    this.#slowed.delete(job.id);
    if (!this.#isOn(job) || !wasToBeTold(job)) return;
    const name = job.hook === undefined ? 'missed' : 'arrived';
    const hour = endHour(job);
    const tally = this.#unwritten.get(hour) ?? noHooksSeen;
    this.#unwritten.set(hour, { ...tally, [name]: tally[name] + 1 });
  }

  /** Writes what was counted; what can't be written is dropped. Never rejects. */
  async flush(): Promise<void> {
    await this.#asking;
    const counted = [...this.#unwritten];
    this.#unwritten = new Map();
    this.#known = [...this.#known, ...counted.map(([hour, tally]) => ({ account: this.#account, hour, ...tally }))];
    const writes = counted.map(([hour, tally]) => this.#ports.counts.add(this.#account, hour, tally));
    for (const write of await Promise.allSettled(writes)) {
      if (write.status === 'rejected')
        this.#ports.log.warn('hook_counts_unwritten', { error: messageOf(write.reason) });
    }
  }

  /** Hooks may have been switched off since it was sent. */
  #isOn({ hookUrl }: Job): boolean {
    return hookUrl !== undefined && this.#config?.secrets.has(this.#account) === true;
  }

  /** Word of its end has come. A copy of the record in a drain's hands may not say so: but then its read came before its time. */
  #isTold({ id, hook }: Job, nowMs: number): boolean {
    if (nowMs < (this.#slowed.get(id) ?? 0) - pulledByMs) this.#remember(id, Number.POSITIVE_INFINITY);
    return hook !== undefined || this.#slowed.get(id) === Number.POSITIVE_INFINITY;
  }

  #remember(id: string, dueAtMs: number): void {
    this.#slowed.delete(id);
    this.#slowed.set(id, dueAtMs);
    if (this.#slowed.size <= jobsMax) return;
    const [oldest = ''] = this.#slowed.keys();
    this.#slowed.delete(oldest);
  }

  #areTrusted(nowMs: number): boolean {
    const hours = trustedHours(nowMs);
    if (nowMs - this.#askedAtMs >= knownForMs) this.#asking = this.#ask(hours, nowMs);
    if (nowMs - this.#knownAtMs >= knownForMs) return false;
    const known = this.#known.filter(({ hour }) => hours.includes(hour));
    return areTrusted(sumOf([...known, ...this.#unwritten.values()]));
  }

  async #ask(hours: readonly number[], nowMs: number): Promise<void> {
    this.#askedAtMs = nowMs;
    try {
      this.#known = await this.#ports.counts.read([this.#account], hours);
      this.#knownAtMs = nowMs;
    } catch (error) {
      this.#ports.log.warn('hook_counts_unread', { error: messageOf(error) });
    }
  }
}
