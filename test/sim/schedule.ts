import type { Dice } from './dice.ts';
import type { Disasters } from './disasters.ts';
import type { Outside } from './doors.ts';
import type { Fleet } from './fleet.ts';
import { epochMs } from './scheduler.ts';
import type { StepChecks } from './step-checks.ts';

const minuteMs = 60_000;
const sweepEvery = 5;

/** What starts the functions: the schedule, and whoever wakes a drain. Late, twice or not at all, while the weather is bad. */
export class Schedule {
  readonly #outside: Outside;
  readonly #fleet: Fleet;
  readonly #checks: StepChecks;
  readonly #disasters: Disasters;
  readonly #dice: Dice;
  readonly #deliverDice: Dice;
  readonly #oddRate: number;
  #calmSinceMs = Number.POSITIVE_INFINITY;

  constructor(outside: Outside, fleet: Fleet, checks: StepChecks, disasters: Disasters) {
    this.#outside = outside;
    this.#fleet = fleet;
    this.#checks = checks;
    this.#disasters = disasters;
    this.#dice = outside.dice.fork('schedule');
    this.#deliverDice = this.#dice.fork('deliver');
    this.#oddRate = this.#dice.chance(0.5) ? this.#dice.spread(0.01, 0.4) : 0;
  }

  start(): void {
    this.#minute(this.#dice.whole(0, sweepEvery - 1));
  }

  calm(): void {
    this.#calmSinceMs = this.#outside.scheduler.nowMs;
  }

  /** An asynchronous invocation: at least once, mostly soon. */
  invokeDrain(as?: 'helper'): void {
    const again = this.#isOdd() ? 2 : 1;
    for (let i = 0; i < again; i++) {
      const delayMs = this.#isOdd() ? this.#dice.spread(100, minuteMs) : this.#dice.between(20, 400);
      // One too many leaves at once, unless it comes as a helper: then it works beside the other.
      const then = i > 0 && this.#dice.chance(0.5) ? 'helper' : as;
      this.#outside.scheduler.after(delayMs, () => this.#fleet.drain(then));
    }
  }

  /** The same, with dice of its own. */
  invokeDeliver(): void {
    const dice = this.#deliverDice;
    const isOdd = () => !this.#outside.weather.isCalm && dice.chance(this.#oddRate);
    for (let i = isOdd() ? 2 : 1; i > 0; i--) {
      const delayMs = isOdd() ? dice.spread(100, minuteMs) : dice.between(20, 400);
      this.#outside.scheduler.after(delayMs, () => this.#fleet.deliver());
    }
  }

  #minute(count: number): void {
    const lateMs = this.#dice.between(0, 3_000);
    this.#outside.scheduler.at(this.#nextMs() + lateMs, () => {
      const findsNothing = this.#isLongCalm() && this.#checks.absent().size === 0 && !this.#isTellingLate();
      const sweeps = count % sweepEvery === 0 && !findsNothing;
      if (this.#disasters.scheduleFires && !this.#isOdd()) this.invokeDrain();
      if (this.#disasters.scheduleFires && sweeps && !this.#isOdd()) this.#sweep();
      if (this.#disasters.scheduleFires && this.#outside.telling !== null && this.#hasNews()) this.invokeDeliver();
      this.#minute(count + 1);
    });
  }

  #isOdd(): boolean {
    return !this.#outside.weather.isCalm && this.#dice.chance(this.#oddRate);
  }

  async #sweep(): Promise<void> {
    const absent = this.#checks.absent();
    // Cut short after a page or a few.
    const report = await this.#fleet.sweep(this.#isOdd() ? this.#dice.spread(10_001, 20_000) : undefined);
    if (report.complete) this.#checks.swept(absent);
  }

  /**
   * The next minute. In fair weather the runs that would find nothing are left out, and a drain starts shortly before
   * something is due: it would only have waited for it.
   */
  #nextMs(): number {
    const { scheduler } = this.#outside;
    const minuteEndMs = epochMs + (Math.floor((scheduler.nowMs - epochMs) / minuteMs) + 1) * minuteMs;
    return this.#isLongCalm() ? Math.max(minuteEndMs, this.#nextDueMs() - 5_000) : minuteEndMs;
  }

  /** Fair weather for so long that nothing which was sent in bad weather is still on its way. */
  #isLongCalm(): boolean {
    return this.#outside.scheduler.nowMs > this.#calmSinceMs + 6 * minuteMs;
  }

  #nextDueMs(): number {
    const { set, telling, scheduler, setNowMs } = this.#outside;
    if (this.#checks.absent().size > 0 || set.scores.size === 0 || set.waiting.size > 0) return scheduler.nowMs;
    if (this.#isTellingLate()) return scheduler.nowMs;
    const dueAtMs = [...set.scores.values(), ...(telling?.set.scores.values() ?? [])];
    return scheduler.nowMs + Math.min(...dueAtMs) - setNowMs();
  }

  /** A run of deliver would find something soon, or who knows. */
  #hasNews(): boolean {
    const { telling, setNowMs } = this.#outside;
    if (!this.#isLongCalm()) return true;
    return [...(telling?.set.scores.values() ?? [])].some((score) => score < setNowMs() + minuteMs);
  }

  /** Something is to be told that the set of events does not hold. */
  #isTellingLate(): boolean {
    const { telling } = this.#outside;
    if (telling === null) return false;
    return [...telling.watch.pendingJobs].some((id) => !telling.set.holds(id) && !this.#outside.set.holds(id));
  }
}
