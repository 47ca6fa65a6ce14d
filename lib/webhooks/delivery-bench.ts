import { setMaxListeners } from 'node:events';
import { messageOf } from '../errors.ts';
import type { Hand, Held } from '../hand.ts';
import { Lanes } from '../lanes.ts';
import { endangeredBelowMs } from '../lease.ts';
import type { Claim, Clock } from '../ports.ts';
import type { SetClock } from '../set-clock.ts';
import { type AttemptPorts, attempt } from './attempt.ts';
import { type CloseBatchPorts, closeBatch } from './close-batch.ts';
import type { DeliverReport } from './deliver-report.ts';
import { busId, type Delivery } from './delivery.ts';
import { EndpointBook } from './endpoint-book.ts';
import type { EventSettle } from './event-settle.ts';
import { type MakeOutPorts, makeOut } from './make-out.ts';
import { ReceiverLanes } from './receiver-lanes.ts';

/*
 * Where a run of deliver works on what it holds, between the claim and the settlement:
 *
 *   job_ ──▶ its deliveries made out        bat_ ──▶ ended, if all its jobs have
 *   dlv_ ──▶ record read ──▶ its time comes ──▶ in its receiver's line ──▶ attempt
 */

export interface DeliveryBenchPorts
  extends Omit<AttemptPorts, 'book' | 'nowMs' | 'deliveries' | 'endpoints'>,
    Omit<MakeOutPorts, 'clock' | 'bus' | 'deliveries' | 'endpoints'>,
    Pick<CloseBatchPorts, 'batches' | 'seenOpen'> {
  deliveries: AttemptPorts['deliveries'] & MakeOutPorts['deliveries'];
  endpoints: AttemptPorts['endpoints'] & MakeOutPorts['endpoints'];
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

export interface DeliveryBenchSettings {
  /** Attempts at a time. */
  concurrency: number;
  tickMs: number;
  leaseMs: number;
}

export type DeliveryCounts = Pick<
  DeliverReport,
  'madeOut' | 'attempts' | 'delivered' | 'failed' | 'dead' | 'canceled' | 'turnedAway' | 'orphans' | 'lostLeases'
>;

interface Ready {
  held: Held;
  delivery: Delivery;
}

const memberPattern = /^(job|bat|dlv)_[a-z2-7]{32}$/;
const makeOutMax = 100;
const makeOutLanes = 4;
const batchLanes = 8;
/** Of one receiver, at first. The bus is ours, and takes ten with a call. */
const receiverWidth = 8;
const busWidth = 40;
/** A longer wait is not waited for in hand. */
const inHandMaxMs = 3_000;
const storeRetryMs = 5_000;
const knownReceiversMax = 20_000;
/** After a fault of our own. */
const later: EventSettle = { kind: 'due', delayMs: 60_000 };

export class DeliveryBench {
  readonly counts: DeliveryCounts = {
    ...{ madeOut: 0, attempts: 0, delivered: 0, failed: 0, dead: 0, canceled: 0 },
    ...{ turnedAway: 0, orphans: 0, lostLeases: 0 },
  };
  readonly #ports: DeliveryBenchPorts;
  readonly #hand: Hand;
  readonly #setClock: SetClock;
  readonly #onDone: (hasMore: boolean) => void;
  readonly #endangeredBelowMs: number;
  readonly #attemptPorts: AttemptPorts;
  readonly #makeOutPorts: MakeOutPorts & CloseBatchPorts;
  readonly #jobs: Lanes<Held[]>;
  readonly #batches: Lanes<Held>;
  readonly #receivers: ReceiverLanes<Ready>;
  /** By delivery: those turned away are not read again to learn that their receiver's line is still full. */
  readonly #receiverOf = new Map<string, string>();
  readonly #end = new AbortController();

  /** `onDone` is called after each piece of work; with true when it put something new into the set. */
  constructor(
    ports: DeliveryBenchPorts,
    settings: DeliveryBenchSettings,
    hand: Hand,
    setClock: SetClock,
    onDone: (hasMore: boolean) => void,
  ) {
    this.#ports = ports;
    this.#hand = hand;
    this.#setClock = setClock;
    this.#onDone = onDone;
    this.#endangeredBelowMs = endangeredBelowMs(settings);
    const nowMs = () => Math.ceil(setClock.latestNowMs());
    this.#attemptPorts = { ...ports, book: new EndpointBook(ports.endpoints, ports.clock), nowMs };
    this.#makeOutPorts = { ...ports, clock: { nowMs }, bus: ports.bus !== undefined };
    this.#jobs = new Lanes(makeOutLanes, (some) => this.#makeOut(some));
    this.#batches = new Lanes(batchLanes, (held) => this.#closeBatch(held));
    const widthOf = (receiver: string) => (receiver === busId ? busWidth : receiverWidth);
    this.#receivers = new ReceiverLanes({ widthOf, total: settings.concurrency }, ports.clock, ports.random, {
      run: (ready) => this.#attempt(ready),
      turnAway: ({ held, delivery }, waitMs) => this.#turnAway(held, delivery.endpointId, waitMs),
    });
    setMaxListeners(0, this.#end.signal);
  }

  /** Work under way. */
  get running(): number {
    return this.#jobs.running + this.#batches.running + this.#receivers.running;
  }

  take(claims: readonly Claim[]): void {
    const taken = claims.map((claim) => this.#hand.take(claim)).filter((held) => held !== null);
    const jobs: Held[] = [];
    const deliveries: Held[] = [];
    for (const held of taken) {
      if (!memberPattern.test(held.id)) this.#orphan(held);
      else if (held.id.startsWith('job_')) jobs.push(held);
      else if (held.id.startsWith('bat_')) this.#batches.push(held);
      else if (!this.#isTurnedAway(held)) deliveries.push(held);
    }
    for (let start = 0; start < jobs.length; start += makeOutMax)
      this.#jobs.push(jobs.slice(start, start + makeOutMax));
    if (deliveries.length > 0) void this.#load(deliveries);
  }

  /** Once a tick: the lines of receivers that do not answer are cut. */
  trim(): void {
    this.#receivers.trim();
  }

  /** No timer survives this: a frozen process must not wake up into it. */
  end(): void {
    this.#end.abort();
  }

  async #makeOut(some: readonly Held[]): Promise<void> {
    const begun = some.filter((held) => this.#begin(held));
    if (begun.length === 0) return;
    const ids = begun.map(({ id }) => id);
    const made = await this.#orLater('make_out_crashed', ids, () => makeOut(this.#makeOutPorts, ids));
    for (const held of begun) this.#settle(held, made?.settle.get(held.id) ?? later);
    this.#made(made?.scheduled ?? 0);
  }

  async #closeBatch(held: Held): Promise<void> {
    if (!this.#begin(held)) return;
    const closed = await this.#orLater('close_batch_crashed', [held.id], () => closeBatch(this.#makeOutPorts, held.id));
    this.#settle(held, closed?.settle ?? later);
    this.#made(closed?.scheduled ?? 0);
  }

  #made(scheduled: number): void {
    this.counts.madeOut += scheduled;
    this.#onDone(scheduled > 0);
  }

  /** A fault of our own in one piece of work touches that one only. */
  async #orLater<T>(event: string, ids: readonly string[], work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#ports.log.error(event, { id: ids[0] ?? '', ids: ids.length, error: messageOf(error) });
      return null;
    }
  }

  async #load(some: readonly Held[]): Promise<void> {
    try {
      const found = await this.#ports.deliveries.getMany(some.map(({ id }) => id));
      const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
      for (const held of some) {
        const delivery = byId.get(held.id);
        if (delivery === undefined) this.#orphan(held);
        else this.#arm(held, delivery);
      }
    } catch (error) {
      this.#ports.log.error('deliveries_unread', { deliveries: some.length, error: messageOf(error) });
      for (const held of some) this.#settle(held, { kind: 'due', delayMs: storeRetryMs });
    }
  }

  #arm(held: Held, delivery: Delivery): void {
    if (held.phase !== 'unstarted' || !this.#hand.holds(held)) return;
    const atMs = Math.max(delivery.nextAtMs, held.dueAtMs);
    const waitMs = atMs - this.#setClock.earliestNowMs();
    if (delivery.state !== 'pending') this.#hand.finish(held, { kind: 'remove' });
    else if (waitMs > inHandMaxMs) this.#hand.finish(held, { kind: 'due', atMs });
    else if (waitMs > 0) void this.#armLater(held, delivery, waitMs);
    else this.#receivers.push(delivery.endpointId, { held, delivery });
  }

  async #armLater(held: Held, delivery: Delivery, waitMs: number): Promise<void> {
    await this.#ports.clock.sleep(waitMs, this.#end.signal);
    if (!this.#end.signal.aborted) this.#arm(held, delivery);
  }

  async #attempt({ held, delivery }: Ready): Promise<'answered' | 'hung' | 'skipped'> {
    if (!this.#begin(held)) return 'skipped';
    const { settle, outcome, hung, sent } = await attempt(this.#attemptPorts, delivery);
    if (sent) this.counts.attempts++;
    if (outcome !== 'unknown') this.counts[outcome]++;
    if (this.#hand.holds(held)) this.#hand.finish(held, settle);
    this.#onDone(false);
    return hung ? 'hung' : 'answered';
  }

  /** False when it is not ours to work on any more. */
  #begin(held: Held): boolean {
    if (held.phase !== 'unstarted' || !this.#hand.holds(held)) return false;
    if (held.leaseEndMs - this.#setClock.latestNowMs() < this.#endangeredBelowMs) {
      this.counts.lostLeases++;
      this.#hand.drop(held);
      return false;
    }
    this.#hand.start(held);
    return true;
  }

  #isTurnedAway(held: Held): boolean {
    const receiver = this.#receiverOf.get(held.id);
    const waitMs = receiver === undefined ? null : this.#receivers.fullForMs(receiver);
    if (receiver === undefined || waitMs === null) return false;
    this.#turnAway(held, receiver, waitMs);
    return true;
  }

  #turnAway(held: Held, receiver: string, waitMs: number): void {
    if (held.phase !== 'unstarted' || !this.#hand.holds(held)) return;
    if (this.#receiverOf.size >= knownReceiversMax) this.#receiverOf.clear();
    this.#receiverOf.set(held.id, receiver);
    this.counts.turnedAway++;
    this.#settle(held, { kind: 'due', delayMs: waitMs });
  }

  #orphan(held: Held): void {
    this.counts.orphans++;
    this.#settle(held, { kind: 'remove' });
  }

  #settle(held: Held, settle: EventSettle): void {
    if (!this.#hand.holds(held)) return;
    const atMs = () => Math.ceil(this.#setClock.latestNowMs() + (settle.kind === 'due' ? settle.delayMs : 0));
    this.#hand.finish(held, settle.kind === 'remove' ? settle : { kind: 'due', atMs: atMs() });
  }
}
