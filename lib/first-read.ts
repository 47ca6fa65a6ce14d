import { messageOf } from './errors.ts';
import type { Job } from './job.ts';
import { Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import type { Clock } from './ports.ts';
import { firstReadAtMs, mayBeDelayed, type RenderEnd, renderEnd, samplesOf } from './render-end.ts';
import { firstReadMs, type RenderTimes, type RenderTimesStore, renderKind } from './render-times.ts';

/*
 * One run of a drain learns how long renders take, and delays the first read of a new one to where it is worth while.
 * Nothing depends on it: whatever is not known, not yet loaded or not written only means that nothing is delayed.
 */

export interface FirstReadPorts {
  store: RenderTimesStore;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
}

export interface FirstReadSettings {
  /** False: no first read is delayed; how long renders take is learnt all the same, to predict their ends. */
  adaptiveFirstRead: boolean;
}

/** Kinds of render that one run has to do with; those beyond are not delayed, nor is anything learnt of them. */
const kindsMax = 500;
const endsMax = 20_000;
const seenMax = 20_000;
/** A settlement waits so long for what is known of its kind. */
const loadMaxMs = 1_000;
const flushMaxMs = 2_000;
const writesAtATime = 10;

interface Kind {
  /** Never rejects. */
  times: Promise<RenderTimes | null>;
  ends: { end: RenderEnd; atMs: number }[];
}

export class FirstReads {
  readonly #ports: FirstReadPorts;
  readonly #isOn: boolean;
  readonly #kinds = new Map<string, Kind>();
  /** When this run last saw a job running, ms since 1970. */
  readonly #seenAtMs = new Map<string, number>();
  #ends = 0;
  #isTroubleLogged = false;

  constructor(ports: FirstReadPorts, settings: FirstReadSettings) {
    this.#ports = ports;
    this.#isOn = settings.adaptiveFirstRead;
  }

  /**
   * When a job that the provider has just accepted is due, ms since 1970: at `dueAtMs`, or later, but not past its deadline.
   * Never rejects.
   */
  accepted(job: Job, dueAtMs: number, nowMs: number): number | Promise<number> {
    if (!this.#isOn || !mayBeDelayed(job, dueAtMs, nowMs)) return dueAtMs;
    const kind = this.#kindOf(job);
    return kind === null ? dueAtMs : this.#delayed(kind, job, dueAtMs, nowMs);
  }

  /** A read at `nowMs` met the job running. */
  seenRunning(job: Job, nowMs: number): void {
    this.#seenAtMs.set(job.id, nowMs);
    if (this.#seenAtMs.size <= seenMax) return;
    const [oldest = ''] = this.#seenAtMs.keys();
    this.#seenAtMs.delete(oldest);
  }

  /** The provider has told the job's end at `nowMs`; whichever it was, its news must not come late. */
  ended(job: Job, nowMs: number): void {
    const seenAtMs = this.#seenAtMs.get(job.id);
    this.#seenAtMs.delete(job.id);
    if (this.#ends >= endsMax) return;
    const end = renderEnd(job, nowMs, seenAtMs);
    if (end === null) return;
    this.#kindOf(job)?.ends.push({ end, atMs: nowMs });
    this.#ends++;
  }

  /** Writes what was learnt, one write for each kind of render, in `flushMaxMs` at most; what can't be written by then is dropped. Never rejects. */
  async flush(): Promise<void> {
    const learnt = [...this.#kinds].filter(([, { ends }]) => ends.length > 0);
    if (learnt.length === 0) return;
    const over = new AbortController();
    let left = learnt.length;
    const lanes = new Lanes<[string, Kind]>(writesAtATime, async ([name, kind]) => {
      if (!over.signal.aborted) await this.#write(name, kind);
      if (--left === 0) over.abort();
    });
    for (const entry of learnt) lanes.push(entry);
    await this.#ports.clock.sleep(flushMaxMs, over.signal);
    // What has no write under way yet begins none in a later run of the same process.
    over.abort();
  }

  async #delayed(kind: Kind, job: Job, dueAtMs: number, nowMs: number): Promise<number> {
    const firstMs = firstMsOf(await this.#within(loadMaxMs, kind.times));
    return firstMs === null ? dueAtMs : firstReadAtMs(job, dueAtMs, nowMs, firstMs);
  }

  async #write(name: string, kind: Kind): Promise<void> {
    try {
      const firstMs = this.#isOn ? firstMsOf(await kind.times) : null;
      await this.#ports.store.add(name, samplesOf(kind.ends.splice(0), firstMs));
    } catch (error) {
      this.#trouble(error);
    }
  }

  /** Null when there are too many. */
  #kindOf(job: Job): Kind | null {
    const name = renderKind(job);
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    if (this.#kinds.size >= kindsMax) return null;
    const kind: Kind = { times: this.#load(name), ends: [] };
    this.#kinds.set(name, kind);
    return kind;
  }

  async #load(name: string): Promise<RenderTimes | null> {
    try {
      return await this.#ports.store.get(name);
    } catch (error) {
      this.#trouble(error);
      return null;
    }
  }

  async #within<T>(limitMs: number, promise: Promise<T>): Promise<T | null> {
    const done = new AbortController();
    const late = this.#ports.clock.sleep(limitMs, done.signal).then(() => null);
    const first = await Promise.race([promise, late]);
    done.abort();
    return first;
  }

  /** Once a run: with the store in trouble it would be once a job. */
  #trouble(error: unknown): void {
    if (this.#isTroubleLogged) return;
    this.#isTroubleLogged = true;
    this.#ports.log.warn('render_times_trouble', { error: messageOf(error) });
  }
}

function firstMsOf(times: RenderTimes | null): number | null {
  return times === null ? null : firstReadMs(times);
}
