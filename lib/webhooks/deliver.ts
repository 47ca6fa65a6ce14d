import { DueSetError, messageOf } from '../errors.ts';
import { Hand } from '../hand.ts';
import { endangeredBelowMs } from '../lease.ts';
import type { Log } from '../log.ts';
import type { DueSet, ExchangeReply, ExchangeRequest } from '../ports.ts';
import { SetClock } from '../set-clock.ts';
import { type DeliverReport, nothingDelivered } from './deliver-report.ts';
import {
  DeliveryBench,
  type DeliveryBenchPorts,
  type DeliveryBenchSettings,
  type DeliveryCounts,
} from './delivery-bench.ts';

/*
 * One run of deliver: exchanges with the due set of events, as a drain has them with its account's, every tick and at once
 * when there is more to do. When the process dies anywhere in here, the leases run out and the ids are due again within seconds.
 */

export interface DeliverPorts extends Omit<DeliveryBenchPorts, 'dueSet'> {
  dueSet: Pick<DueSet, 'exchange' | 'schedule'>;
  log: Log;
}

export interface DeliverSettings extends DeliveryBenchSettings {
  /** The window is never longer than this. */
  windowMs: number;
  /** What one attempt and the last exchange may take: no claim is made with less time left. */
  stepMs: number;
  /** Most settlements of one exchange. */
  exchangeMax: number;
}

/** Runs until the window ends or nothing is due in it. `remainingMs` tells the time that the process has left. Never rejects on trouble outside. */
export function deliver(
  ports: DeliverPorts,
  settings: DeliverSettings,
  remainingMs: () => number,
): Promise<DeliverReport> {
  return new Deliver(ports, settings, remainingMs).run();
}

const claimMax = 250;
/** What waits in lines, for its time or for its settlement included. */
const inHandMax = 2_000;
/** When there is more to do, exchanges in the time of one tick at most. */
const ticksAtOnce = 10;

class Deliver {
  readonly #ports: DeliverPorts;
  readonly #settings: DeliverSettings;
  readonly #remainingMs: () => number;
  readonly #clock: SetClock;
  readonly #hand: Hand;
  readonly #bench: DeliveryBench;
  readonly #report: Omit<DeliverReport, keyof DeliveryCounts> = { ...nothingDelivered };
  #role: ExchangeRequest['role'] = 'new';
  #bell = new AbortController();
  #windowEndsAtMs = 0;

  constructor(ports: DeliverPorts, settings: DeliverSettings, remainingMs: () => number) {
    this.#ports = ports;
    this.#settings = settings;
    this.#remainingMs = remainingMs;
    this.#clock = new SetClock(ports.clock.monotonicMs);
    this.#hand = new Hand(settings.leaseMs);
    this.#bench = new DeliveryBench(ports, settings, this.#hand, this.#clock, (hasMore) => this.#done(hasMore));
  }

  async run(): Promise<DeliverReport> {
    const { windowMs, stepMs } = this.#settings;
    const nowMs = this.#ports.clock.monotonicMs();
    this.#windowEndsAtMs = nowMs + Math.min(windowMs, this.#remainingMs() - stepMs);
    const hasTime = this.#windowEndsAtMs > nowMs;
    try {
      this.#report.ended = hasTime ? await this.#tickUntilDone() : 'no_time';
      await this.#quiet();
    } finally {
      this.#bench.counts.lostLeases += this.#hand.dropEndangered(Number.POSITIVE_INFINITY);
      this.#bench.end();
    }
    return { ...this.#report, ...this.#bench.counts };
  }

  async #tickUntilDone(): Promise<DeliverReport['ended']> {
    const { clock } = this.#ports;
    for (;;) {
      this.#bell = new AbortController();
      const startedAtMs = clock.monotonicMs();
      const open = startedAtMs < this.#windowEndsAtMs && this.#remainingMs() > this.#settings.stepMs;
      this.#dropEndangered();
      this.#bench.trim();
      if (!open) this.#close();
      const reply = await this.#exchange(open);
      if (reply === 'limit') return 'limit';
      if (open && reply?.role === 'leave') return 'idle';
      if (open && reply?.role === 'covered') return 'covered';
      if (!open && (this.#hand.size === 0 || this.#isOutOfTime)) return 'window';
      await this.#rest(startedAtMs);
    }
  }

  get #isOutOfTime(): boolean {
    return this.#remainingMs() < 2 * this.#settings.tickMs;
  }

  /** Until the next tick is due or the bell rings; but a part of a tick always. */
  async #rest(startedAtMs: number): Promise<void> {
    const { clock } = this.#ports;
    const { tickMs } = this.#settings;
    const restMs = startedAtMs + tickMs - clock.monotonicMs();
    if (restMs > 0) await clock.sleep(restMs, this.#bell.signal);
    const leastMs = startedAtMs + tickMs / ticksAtOnce - clock.monotonicMs();
    if (leastMs > 0) await clock.sleep(leastMs);
  }

  #dropEndangered(): void {
    const untilMs = this.#clock.latestNowMs() + endangeredBelowMs(this.#settings);
    this.#bench.counts.lostLeases += this.#hand.dropEndangered(untilMs);
  }

  /** Nothing is claimed or begun any more; what was not begun goes back with its own due time. */
  #close(): void {
    this.#windowEndsAtMs = Math.min(this.#windowEndsAtMs, this.#ports.clock.monotonicMs());
    this.#report.givenBack += this.#hand.giveBackAll();
  }

  /** Waits for attempts under way, so that none goes on in a frozen process; as long as there is time. */
  async #quiet(): Promise<void> {
    this.#close();
    while (this.#bench.running > 0 && !this.#isOutOfTime) {
      this.#dropEndangered();
      this.#bell = new AbortController();
      await this.#ports.clock.sleep(this.#settings.tickMs, this.#bell.signal);
    }
  }

  /** One round trip. Null when it failed: everything in hand is simply sent again with the next one. */
  async #exchange(open: boolean): Promise<ExchangeReply | 'limit' | null> {
    const { clock, dueSet, log } = this.#ports;
    const settlements = this.#hand.settlements(this.#clock.latestNowMs(), this.#settings.exchangeMax);
    const settled = settlements.filter(({ to }) => to.kind !== 'renew').length;
    const inHand = this.#hand.size - settled;
    const asked = open ? Math.max(0, Math.min(claimMax, inHandMax - inHand)) : 0;
    const sentAtMs = clock.monotonicMs();
    const windowMs = open ? this.#windowEndsAtMs - sentAtMs : 0;
    try {
      const reply = await dueSet.exchange({ settlements, claimMax: asked, windowMs, role: this.#role, inHand });
      this.#clock.observe(sentAtMs, clock.monotonicMs(), reply.nowMs);
      this.#report.ticks++;
      this.#bench.counts.lostLeases += this.#hand.confirm(settlements, new Set(reply.stale)).length;
      if (reply.role !== 'leave' && reply.role !== 'covered') this.#role = reply.role;
      this.#claimed(reply);
      const isFull = asked > 0 && reply.claimed.length === asked;
      if (isFull || settlements.length === this.#settings.exchangeMax) this.#bell.abort();
      return reply;
    } catch (error) {
      if (!(error instanceof DueSetError)) throw error;
      this.#report.failedExchanges++;
      log.error('exchange_failed', { code: error.code, error: messageOf(error) });
      return error.code === 'limit' ? 'limit' : null;
    }
  }

  #claimed({ claimed, nowMs }: ExchangeReply): void {
    this.#report.claims += claimed.length;
    this.#report.dueLagMs = Math.max(this.#report.dueLagMs, nowMs - (claimed[0]?.dueAtMs ?? nowMs));
    this.#bench.take(claimed);
  }

  /** Rings for the next exchange ahead of its time: something new is due, or the last piece of work before the end is done. */
  #done(hasMore: boolean): void {
    const closing = this.#ports.clock.monotonicMs() >= this.#windowEndsAtMs;
    if (closing ? this.#bench.running === 1 : hasMore) this.#bell.abort();
  }
}
