import { Appetite, type Asked } from './appetite.ts';
import { Breaker } from './breaker.ts';
import { type DrainReport, noReport } from './drain-report.ts';
import { DueSetError, messageOf } from './errors.ts';
import { FanOut } from './fan-out.ts';
import type { FirstReadSettings } from './first-read.ts';
import { Hand } from './hand.ts';
import { endangeredBelowMs } from './lease.ts';
import type { BreakerState, DueSet, ExchangeReply, ExchangeRequest, Waker } from './ports.ts';
import { type NotesPorts, RunNotes } from './run-notes.ts';
import { SetClock } from './set-clock.ts';
import type { WorkCounts } from './work-counts.ts';
import { Workbench, type WorkbenchPorts, type WorkbenchSettings } from './workbench.ts';

/*
 * One run of the drain. Every tick is one exchange: it settles what finished since the last tick, renews the leases of
 * what is still in hand, and claims what falls due before the next one. Each claimed job's step starts from a local
 * timer at its due time, so the number of round trips depends on time, never on the number of jobs.
 *
 * When the process dies anywhere in here, the leases run out and the ids are due again within seconds.
 */

export interface DrainPorts extends Omit<WorkbenchPorts, 'notes'>, Omit<NotesPorts, 'clock'> {
  dueSet: Pick<DueSet, 'exchange' | 'tidy'>;
  waker: Waker;
}

export interface DrainSettings extends WorkbenchSettings, FirstReadSettings {
  /** The window is never longer than this. */
  windowMs: number;
  /** What one step and the last exchange may take: no claim is made with less time left. */
  stepMs: number;
  /** Most settlements and most claims of one exchange. */
  exchangeMax: number;
  /** Most helpers that one run asks for. */
  helpersMax: number;
}

/**
 * Runs until the window ends or nothing is due in it. `remainingMs` tells the time that the process has left; a `helper`
 * was started by a drain that fell behind. Never rejects on trouble outside.
 */
export function drain(
  ports: DrainPorts,
  settings: DrainSettings,
  remainingMs: () => number,
  as?: 'helper',
): Promise<DrainReport> {
  return new Drain(ports, settings, remainingMs, as === 'helper').run();
}

/** Under pressure, exchanges in the time of one tick at most. */
const ticksAtOnce = 10;

class Drain {
  readonly #ports: DrainPorts;
  readonly #settings: DrainSettings;
  readonly #remainingMs: () => number;
  readonly #isHelper: boolean;
  #role: ExchangeRequest['role'];
  readonly #clock: SetClock;
  readonly #hand: Hand;
  readonly #appetite: Appetite;
  readonly #fanOut: FanOut;
  readonly #breaker: Breaker;
  readonly #notes: RunNotes;
  readonly #workbench: Workbench;
  readonly #wakes: Promise<void>[] = [];
  readonly #report: Omit<DrainReport, keyof WorkCounts>;
  #bell = new AbortController();
  #windowEndsAtMs = 0;
  #isTidy = false;

  constructor(ports: DrainPorts, settings: DrainSettings, remainingMs: () => number, isHelper: boolean) {
    const nowMs = ports.clock.monotonicMs();
    this.#ports = ports;
    this.#settings = settings;
    this.#remainingMs = remainingMs;
    this.#isHelper = isHelper;
    this.#role = isHelper ? 'helper' : 'new';
    this.#clock = new SetClock(ports.clock.monotonicMs);
    this.#hand = new Hand(settings.leaseMs);
    // One hop only: a helper that is pressed leaves asking to the drain that asked for it.
    this.#fanOut = new FanOut(isHelper ? { ...settings, helpersMax: 0 } : settings, nowMs);
    this.#breaker = new Breaker(ports.clock);
    this.#notes = new RunNotes(ports, settings);
    const onStep = (readMs: number | undefined) => this.#stepDone(readMs);
    this.#workbench = new Workbench(
      { ...ports, notes: this.#notes },
      settings,
      this.#hand,
      this.#clock,
      this.#breaker,
      onStep,
    );
    this.#appetite = new Appetite(settings, this.#hand, this.#workbench, this.#clock);
    this.#report = { ended: 'window', ...noReport };
  }

  async run(): Promise<DrainReport> {
    const { windowMs, stepMs } = this.#settings;
    const nowMs = this.#ports.clock.monotonicMs();
    this.#windowEndsAtMs = nowMs + Math.min(windowMs, this.#remainingMs() - stepMs);
    const hasTime = this.#windowEndsAtMs > nowMs;
    try {
      this.#report.ended = hasTime ? await this.#tickUntilDone() : 'no_time';
      await this.#quiet();
      if (this.#remainingMs() > 2 * this.#settings.tickMs) await this.#notes.flush();
    } finally {
      // What no time was left for: a process that thaws into the next run must not go on with it.
      this.#workbench.counts.lostLeases += this.#hand.dropEndangered(Number.POSITIVE_INFINITY);
      this.#workbench.end();
    }
    return { ...this.#report, ...this.#workbench.counts };
  }

  /** By the first drain only. Nothing waits for it but the run's end. */
  #tidyOnce(): void {
    if (!this.#isTidy) this.#wakes.push(this.#tidy());
    this.#isTidy = true;
  }

  async #tidy(): Promise<void> {
    try {
      const { expired } = await this.#ports.dueSet.tidy();
      if (expired > 0) this.#ports.log.info('waited_past_deadline', { jobs: expired });
    } catch (error) {
      if (!(error instanceof DueSetError)) throw error;
      this.#ports.log.warn('not_tidied', { code: error.code, error: messageOf(error) });
    }
  }

  async #tickUntilDone(): Promise<DrainReport['ended']> {
    const { clock } = this.#ports;
    let calm = false;
    for (;;) {
      this.#bell = new AbortController();
      const startedAtMs = clock.monotonicMs();
      calm ||= this.#isHelper && this.#fanOut.isCalm(startedAtMs);
      const open = !calm && startedAtMs < this.#windowEndsAtMs && this.#remainingMs() > this.#settings.stepMs;
      this.#dropEndangered();
      if (!open) this.#close();
      const reply = await this.#exchange(open);
      if (reply === 'limit') return 'limit';
      if (open && reply?.role === 'leave') return 'idle';
      if (open && reply?.role === 'first') this.#tidyOnce();
      if (open && reply?.role === 'covered') return 'covered';
      const outOfTime = this.#remainingMs() < 2 * this.#settings.tickMs;
      if (!open && (this.#hand.size === 0 || outOfTime)) return calm ? 'calm' : 'window';
      await this.#rest(startedAtMs);
    }
  }

  /** Until the next tick is due, or what was left in the set is, or the bell rings; but a part of a tick always. */
  async #rest(startedAtMs: number): Promise<void> {
    const { clock } = this.#ports;
    const { tickMs } = this.#settings;
    const restMs = Math.min(startedAtMs + tickMs, this.#appetite.moreDueAtMs) - clock.monotonicMs();
    if (restMs > 0) await clock.sleep(restMs, this.#bell.signal);
    const leastMs = startedAtMs + tickMs / ticksAtOnce - clock.monotonicMs();
    if (leastMs > 0) await clock.sleep(leastMs);
  }

  #dropEndangered(): void {
    const untilMs = this.#clock.latestNowMs() + endangeredBelowMs(this.#settings);
    this.#workbench.counts.lostLeases += this.#hand.dropEndangered(untilMs);
  }

  /** Nothing is claimed or started any more; what was not started goes back with its own due time. */
  #close(): void {
    this.#windowEndsAtMs = Math.min(this.#windowEndsAtMs, this.#ports.clock.monotonicMs());
    this.#report.givenBack += this.#hand.giveBackAll();
  }

  /** Waits for calls under way, so that none goes on in a frozen process; as long as there is time, and the leases hold. */
  async #quiet(): Promise<void> {
    const { tickMs } = this.#settings;
    this.#close();
    while (this.#workbench.running > 0 && this.#remainingMs() > 2 * tickMs) {
      this.#dropEndangered();
      this.#bell = new AbortController();
      await this.#ports.clock.sleep(tickMs, this.#bell.signal);
    }
    await Promise.all(this.#wakes);
  }

  /** One round trip. Null when it failed: everything in hand is simply sent again with the next one. */
  async #exchange(open: boolean): Promise<ExchangeReply | 'limit' | null> {
    const { clock, dueSet, log } = this.#ports;
    const settlements = this.#hand.settlements(this.#clock.latestNowMs(), this.#settings.exchangeMax);
    const settled = settlements.filter(({ to }) => to.kind !== 'renew').length;
    const asked = open ? this.#appetite.wanted : { claimMax: 0, admitMax: 0 };
    const sentAtMs = clock.monotonicMs();
    const news = { ...this.#workbench.news(sentAtMs), provider: this.#breaker.news };
    const request = {
      ...asked,
      ...news,
      settlements,
      windowMs: open ? this.#windowEndsAtMs - sentAtMs : 0,
      role: this.#role,
      inHand: this.#hand.size - settled,
    };
    try {
      const reply = await dueSet.exchange(request);
      this.#clock.observe(sentAtMs, clock.monotonicMs(), reply.nowMs);
      this.#report.ticks++;
      this.#workbench.told(news);
      this.#breaker.told(news.provider);
      this.#workbench.counts.lostLeases += this.#hand.confirm(settlements, new Set(reply.stale)).length;
      // There is more to settle or to renew than one exchange takes: that must not wait for a tick.
      if (settlements.length === this.#settings.exchangeMax) this.#bell.abort();
      this.#learn(reply.breaker);
      if (reply.role !== 'leave' && reply.role !== 'covered') this.#role = reply.role;
      if (open) this.#claimed(reply, asked);
      return reply;
    } catch (error) {
      if (!(error instanceof DueSetError)) throw error;
      this.#report.failedExchanges++;
      this.#workbench.untold(news);
      log.error('exchange_failed', { code: error.code, error: messageOf(error) });
      return error.code === 'limit' ? 'limit' : null;
    }
  }

  /** When the breaker opens, what was not started goes back: the others may have their probes with it. */
  #learn(breaker: BreakerState): void {
    const wasOpen = this.#breaker.isOpen;
    this.#breaker.learn(breaker);
    const { isOpen } = this.#breaker;
    if (isOpen) this.#report.openTicks++;
    if (isOpen === wasOpen) return;
    this.#ports.log.warn('breaker', { state: breaker.kind });
    if (isOpen) this.#report.givenBack += this.#hand.giveBackAll();
  }

  #claimed(reply: ExchangeReply, asked: Asked): void {
    const nowMs = this.#ports.clock.monotonicMs();
    const due = reply.claimed.filter(({ rank }) => rank === undefined);
    const lagMs = reply.nowMs - (due[0]?.dueAtMs ?? reply.nowMs);
    const full = this.#appetite.observe(asked, reply, due.length, nowMs);
    this.#report.claims += reply.claimed.length;
    this.#report.dueLagMs = Math.max(this.#report.dueLagMs, lagMs);
    this.#workbench.take(reply.claimed);
    if (asked.claimMax > 0) this.#fanOut.observe(full, lagMs, nowMs);
    if (!this.#fanOut.wantsHelper(nowMs)) return;
    this.#report.helpers++;
    this.#wakes.push(this.#ports.waker.wake('helper'));
  }

  /** Rings for the next tick ahead of its time: lanes run dry while more is due, or the last call before the end is done. */
  #stepDone(readMs: number | undefined): void {
    if (readMs !== undefined) this.#appetite.finish(readMs);
    const closing = this.#ports.clock.monotonicMs() >= this.#windowEndsAtMs;
    if (closing ? this.#workbench.running === 1 : this.#appetite.isHungry) this.#bell.abort();
  }
}
