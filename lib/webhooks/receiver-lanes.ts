import type { Clock, Random } from '../ports.ts';

/*
 * Attempts under way, shared out among the receivers. Each has a few lanes, more while it answers, one when it hangs; what
 * waits for them is a line no longer than it works off in some seconds. Whoever finds the line full is turned away, to
 * come again later: so a receiver that hangs holds a few lanes and a few claims, however many events there are for it.
 */

export interface ReceiverLanesSettings {
  /** Lanes at first, for a receiver. */
  widthOf: (receiver: string) => number;
  /**
   * Attempts at a time, all in all. A receiver that has none under way gets its first one even beyond that, up to twice as many,
   * unless it is known to hang: those that are can never keep the others from beginning.
   */
  total: number;
}

export interface ReceiverWork<T> {
  /** Makes the attempt, or skips it when it is not to be made any more; must not reject. */
  run: (item: T) => Promise<'answered' | 'hung' | 'skipped'>;
  /** There is no room for it: it is to come again in so many ms. */
  turnAway: (item: T, waitMs: number) => void;
}

interface Receiver<T> {
  /** Lanes while it is not known to hang. */
  readonly usualWidth: number;
  width: number;
  running: number;
  line: T[];
  /** What an attempt takes, a running mean. */
  meanMs: number;
  /** When it last answered, or had nothing to do, monotonic ms. */
  progressAtMs: number;
  /** The newest attempt that ended was not answered in time. */
  hangs: boolean;
  /** When the one who was last turned away may have its turn, monotonic ms. */
  turnAtMs: number;
}

const widthMax = 32;
const lineMax = 500;
const lineMin = 2;
/** A line is as long as what is worked off in this time. */
const lineMs = 5_000;
/** All its lanes taken and no answer for so long: it may hang, and its line is cut. */
const stuckMs = 2_000;
/** Before anything is known of a receiver. */
const firstMeanMs = 20;
const meanWeight = 0.2;
const waitMinMs = 500;
/** Who only may hang is asked about again soon: it may as well be we who were slow. */
const waitMaxMs = { hangs: 60_000, unknown: 3_000 };

export class ReceiverLanes<T> {
  readonly #settings: ReceiverLanesSettings;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #random: Random;
  readonly #work: ReceiverWork<T>;
  /** In the order in which they were last given a lane. */
  readonly #receivers = new Map<string, Receiver<T>>();
  #running = 0;

  constructor(
    settings: ReceiverLanesSettings,
    clock: Pick<Clock, 'monotonicMs'>,
    random: Random,
    work: ReceiverWork<T>,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#random = random;
    this.#work = work;
  }

  /** Attempts under way. */
  get running(): number {
    return this.#running;
  }

  push(id: string, item: T): void {
    const receiver = this.#receiver(id);
    receiver.line.push(item);
    if (receiver.line.length > this.#lineMax(receiver)) this.#trim(receiver);
    else this.#fill();
  }

  /** Null when there is room in the receiver's line; else when whoever asks is to come again, in ms. */
  fullForMs(id: string): number | null {
    const receiver = this.#receivers.get(id);
    return receiver !== undefined && this.#isFull(receiver) ? this.#turnMs(receiver) : null;
  }

  /** Cuts the lines of receivers that have come to hang since. */
  trim(): void {
    for (const receiver of this.#receivers.values()) this.#trim(receiver);
  }

  #receiver(id: string): Receiver<T> {
    const known = this.#receivers.get(id);
    const nowMs = this.#clock.monotonicMs();
    if (known !== undefined) {
      if (known.running === 0 && known.line.length === 0 && !known.hangs) known.progressAtMs = nowMs;
      return known;
    }
    const width = this.#settings.widthOf(id);
    const idle = { running: 0, line: [], meanMs: firstMeanMs, progressAtMs: nowMs, hangs: false, turnAtMs: 0 };
    const receiver: Receiver<T> = { usualWidth: width, width, ...idle };
    this.#receivers.set(id, receiver);
    return receiver;
  }

  #lineMax(receiver: Receiver<T>): number {
    const { width, running, progressAtMs, hangs, meanMs } = receiver;
    const isStuck = running >= width && this.#clock.monotonicMs() - progressAtMs > stuckMs;
    if (isStuck || hangs) return lineMin;
    return Math.min(Math.max(Math.ceil((lineMs * width) / meanMs), lineMin), lineMax);
  }

  #trim(receiver: Receiver<T>): void {
    const max = this.#lineMax(receiver);
    for (const item of receiver.line.splice(max)) this.#work.turnAway(item, this.#turnMs(receiver));
  }

  #isFull(receiver: Receiver<T>): boolean {
    return receiver.line.length >= this.#lineMax(receiver);
  }

  /** One after the other, as its lanes may come free; those who come again too early are turned away again. */
  #turnMs(receiver: Receiver<T>): number {
    const nowMs = this.#clock.monotonicMs();
    const silentMs = receiver.running < receiver.width ? 0 : nowMs - receiver.progressAtMs;
    const eachMs = Math.max(receiver.meanMs, silentMs) / receiver.width;
    receiver.turnAtMs = Math.max(receiver.turnAtMs, nowMs + receiver.line.length * eachMs) + eachMs;
    const longestMs = (receiver.hangs ? waitMaxMs.hangs : waitMaxMs.unknown) * (0.5 + this.#random() / 2);
    return Math.min(Math.max(receiver.turnAtMs - nowMs, waitMinMs), longestMs);
  }

  /** A lane each in turn, until there is none free or none wanted. */
  #fill(): void {
    for (let started = true; started; ) {
      started = false;
      for (const [id, receiver] of [...this.#receivers]) {
        if (receiver.line.length === 0 || !this.#mayStart(receiver)) continue;
        this.#receivers.delete(id);
        this.#receivers.set(id, receiver);
        this.#start(receiver, receiver.line.shift() as T);
        started = true;
      }
    }
  }

  #mayStart({ running, width, hangs }: Receiver<T>): boolean {
    const { total } = this.#settings;
    return running < width && this.#running < (running === 0 && !hangs ? 2 * total : total);
  }

  #start(receiver: Receiver<T>, item: T): void {
    const startedAtMs = this.#clock.monotonicMs();
    receiver.running++;
    this.#running++;
    void this.#work.run(item).then((how) => {
      receiver.running--;
      this.#running--;
      if (how !== 'skipped') this.#learn(receiver, how, this.#clock.monotonicMs() - startedAtMs);
      this.#fill();
    });
  }

  #learn(receiver: Receiver<T>, how: 'answered' | 'hung', tookMs: number): void {
    receiver.meanMs += (Math.max(tookMs, 1) - receiver.meanMs) * meanWeight;
    receiver.hangs = how === 'hung';
    if (how === 'hung') {
      receiver.width = Math.max(1, Math.floor(receiver.width / 2));
      this.#trim(receiver);
      return;
    }
    receiver.progressAtMs = this.#clock.monotonicMs();
    receiver.turnAtMs = 0;
    const { usualWidth, width } = receiver;
    receiver.width = Math.max(usualWidth, Math.min(width + 1, widthMax));
  }
}
