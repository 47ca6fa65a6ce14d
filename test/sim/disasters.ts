import { overdueReadsMs } from '../../lib/due.ts';
import { isActive } from '../../lib/job.ts';
import type { Dice } from './dice.ts';
import type { Outside } from './doors.ts';
import type { SavedSet } from './due-set-watch.ts';
import type { Fleet } from './fleet.ts';
import { emptySet } from './memory-sets.ts';
import type { StepChecks } from './step-checks.ts';

const minute = 60_000;

/** What befalls the world as a whole, now and then: most seeds know a few of these. */
const kinds = [
  'wipe',
  'rollBack',
  'redisAway',
  'redisLimit',
  'recordThrottled',
  'writesThrottled',
  'cutOff',
  'providerAway',
  'providerSlow',
  'forgottenClip',
  'killOne',
  'killAll',
  'stallOne',
  'wallClock',
  'noSchedule',
  'missedTicks',
  'pause',
] as const;
type Kind = (typeof kinds)[number];

const nothing: SavedSet = { state: emptySet, holders: new Map() };

export class Disasters {
  readonly #outside: Outside;
  readonly #fleet: Fleet;
  readonly #checks: StepChecks;
  readonly #dice: Dice;
  readonly #chosen: Kind[];
  readonly #meanMs: number;
  #noScheduleUntilMs = 0;

  constructor(outside: Outside, fleet: Fleet, checks: StepChecks) {
    this.#outside = outside;
    this.#fleet = fleet;
    this.#checks = checks;
    this.#dice = outside.dice.fork('disasters');
    this.#chosen = kinds.filter(() => this.#dice.chance(0.25));
    this.#meanMs = this.#dice.spread(8_000, 5 * minute);
  }

  /** False while the schedule of the functions does not fire. */
  get scheduleFires(): boolean {
    return this.#outside.weather.isCalm || this.#outside.scheduler.nowMs >= this.#noScheduleUntilMs;
  }

  start(): void {
    if (this.#chosen.length > 0) this.#next();
  }

  #next(): void {
    const delayMs = -Math.log(1 - this.#dice.roll()) * this.#meanMs;
    this.#outside.scheduler.after(delayMs, async () => {
      if (this.#outside.weather.isCalm) return;
      await this.#strike(this.#dice.pick(this.#chosen));
      this.#next();
    });
  }

  #strike(kind: Kind): Promise<void> | void {
    const { referee, weather } = this.#outside;
    referee.note(kind);
    referee.saw(kind);
    switch (kind) {
      case 'wipe':
        return this.#wipe();
      case 'rollBack':
        return this.#rollBackLater();
      case 'redisAway':
        return weather.storm(['dueSet'], this.#dice.spread(2_000, minute));
      case 'redisLimit':
        return weather.useUpPlan(this.#dice.spread(2_000, 5 * minute));
      case 'recordThrottled':
        return weather.storm(['storeRead', 'storeWrite'], this.#dice.spread(5_000, 5 * minute));
      case 'writesThrottled':
        return weather.storm(['storeWrite'], this.#dice.spread(5_000, 5 * minute));
      case 'providerAway':
        return weather.storm(['create', 'read'], this.#dice.spread(5_000, 10 * minute));
      case 'providerSlow':
        return weather.slowDown(['create', 'read'], this.#dice.spread(5_000, 3 * minute));
      case 'cutOff':
        return this.#cutOff();
      case 'forgottenClip':
        return this.#forget();
      case 'killOne':
        return this.#anyWorker()?.kill();
      case 'killAll':
        for (const lambda of this.#fleet.workers) lambda.kill();
        return;
      case 'stallOne':
        return this.#anyWorker()?.stall(this.#dice.spread(1_000, 40_000));
      case 'wallClock':
        return this.#anyWorker()?.setWallClock(this.#dice.between(-5 * minute, 5 * minute));
      case 'noSchedule':
        this.#noScheduleUntilMs = this.#outside.scheduler.nowMs + this.#gapMs();
        return;
      case 'pause':
        return this.#pause();
      case 'missedTicks':
        for (let i = this.#dice.whole(2, 5); i > 0; i--) {
          // A run too many leaves at once, unless it comes as a helper.
          this.#fleet.drain(this.#dice.chance(0.5) ? 'helper' : undefined);
        }
    }
  }

  /** Sometimes a sweep comes at once, when what was told a moment ago still counts. */
  async #wipe(): Promise<void> {
    const { scheduler } = this.#outside;
    if (this.#dice.chance(0.5)) scheduler.after(this.#dice.spread(100, 20_000), () => void this.#fleet.sweep());
    await this.#load({ due: nothing, events: nothing }, 'wiped');
  }

  #cutOff(): void {
    const worker = this.#anyWorker();
    if (worker !== undefined) this.#outside.weather.cutOff(worker, this.#dice.spread(2_000, minute));
  }

  /** For how long the schedule does not fire: often until shortly before one of the seldom reads of an overdue job. */
  #gapMs(): number {
    const { store, setNowMs } = this.#outside;
    const active = [...store.all.values()].filter(({ state }) => isActive(state));
    const anyMs = this.#dice.spread(2 * minute, 12 * 60 * minute);
    if (active.length === 0 || this.#dice.chance(0.5)) return anyMs;
    const readAtMs = this.#dice.pick(active).deadlineAtMs + this.#dice.pick(overdueReadsMs);
    return Math.max(anyMs / 100, readAtMs - setNowMs() - this.#dice.spread(1_000, 12 * minute));
  }

  /** What is written between now and then is acknowledged, and lost. */
  #rollBackLater(): void {
    const { set, telling } = this.#outside;
    const saved = { due: set.save(), events: telling?.set.save() ?? nothing };
    this.#outside.scheduler.after(this.#dice.spread(5, 30_000), async () => {
      if (this.#outside.weather.isCalm) return;
      this.#outside.referee.note('rolled back');
      await this.#load(saved, 'rolled back');
    });
  }

  async #load({ due, events }: { due: SavedSet; events: SavedSet }, cause: string): Promise<void> {
    const { calls, set, telling } = this.#outside;
    const before = set.ids;
    await set.load(due);
    await telling?.set.load(events);
    const lost = before.filter((id) => !set.holds(id));
    this.#checks.lost(lost, cause);
    calls.rolledBack(lost);
  }

  /** Somebody stops the account, and starts it again. */
  async #pause(): Promise<void> {
    const { scheduler, set, weather } = this.#outside;
    scheduler.after(this.#dice.spread(5_000, 10 * minute), () => (weather.isCalm ? undefined : set.resume()));
    await set.pause(this.#dice.pick(['all', 'creates']));
  }

  #forget(): void {
    const { provider } = this.#outside;
    const known = [...provider.clips.values()].filter((clip) => clip.forgottenAtMs === Number.POSITIVE_INFINITY);
    if (known.length > 0) provider.forget(this.#dice.pick(known));
  }

  #anyWorker() {
    const { workers } = this.#fleet;
    return workers.length === 0 ? undefined : this.#dice.pick(workers);
  }
}
