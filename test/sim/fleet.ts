import { type DrainPorts, type DrainSettings, drain } from '../../lib/drain.ts';
import { type SweepReport, sweep } from '../../lib/sweep.ts';
import type { Dice } from './dice.ts';
import { Doors, type Outside } from './doors.ts';
import { Lambda } from './lambda.ts';

const drainTimeoutMs = 90_000;
const sweepTimeoutMs = 120_000;
/** Drains at a time; what would start one more is refused, as by an account's limit. */
const drainsMax = 5;

export interface FleetSettings {
  drain: DrainSettings;
  /** Wall clocks are wrong by up to this much. */
  skewMaxMs: number;
  shardCount: number;
  sweepPeriodMs: number;
}

/** The functions: starts processes, or thaws one that has ended its run, and takes them away at their time-out. */
export class Fleet {
  readonly #outside: Outside;
  readonly #dice: Dice;
  readonly #settings: FleetSettings;
  readonly #frozen: Lambda[] = [];
  readonly #drains = new Set<Lambda>();
  #started = 0;

  constructor(outside: Outside, settings: FleetSettings) {
    this.#outside = outside;
    this.#dice = outside.dice.fork('fleet');
    this.#settings = settings;
  }

  /** Drains under way; those that died among them until somebody looks. */
  get drains(): Lambda[] {
    for (const lambda of this.#drains) if (lambda.isDead) this.#drains.delete(lambda);
    return [...this.#drains];
  }

  start(kind: Lambda['kind']): Lambda {
    const { skewMaxMs } = this.#settings;
    const skewMs = this.#dice.between(-skewMaxMs, skewMaxMs);
    const name = `${kind}${++this.#started}`;
    return new Lambda(kind, name, this.#outside.scheduler, this.#dice.fork(name), skewMs);
  }

  drain(as?: 'helper'): void {
    const { referee, scheduler } = this.#outside;
    if (this.drains.length >= drainsMax) {
      referee.note('no drain is started: too many are');
      return;
    }
    const lambda = this.#thawed() ?? this.start('drain');
    referee.note(`${lambda.name} starts${as ? ' as helper' : ''}`);
    this.#drains.add(lambda);
    const { ports } = new Doors(this.#outside, lambda);
    const remaining = this.#remaining(lambda, drainTimeoutMs);
    let over = false;
    const run = drain(ports satisfies DrainPorts, this.#settings.drain, remaining, as);
    run.then(
      (report) => {
        over = true;
        referee.saw(`ended ${report.ended}`);
        if (report.parked > 0) referee.saw('parked');
        if (report.helpers > 0) referee.saw('helped');
        if (report.lostLeases > 0) referee.saw('lost lease');
        if (report.givenBack > 0) referee.saw('given back');
        referee.note(`${lambda.name} ends: ${report.ended} ${report.ticks} ${report.steps}`);
        this.#end(lambda);
      },
      (error) => referee.broken('a drain never rejects', `${lambda.name}: ${error}`),
    );
    scheduler.after(drainTimeoutMs, () => {
      if (!over) lambda.kill();
    });
  }

  /** Resolves with the report; never when the process is taken away before. */
  async sweep(forMs = sweepTimeoutMs): Promise<SweepReport> {
    const { referee, scheduler } = this.#outside;
    const lambda = this.start('sweep');
    referee.note(`${lambda.name} starts`);
    const { ports } = new Doors(this.#outside, lambda);
    const { shardCount, sweepPeriodMs } = this.#settings;
    const settings = { shardCount, pageMs: 10_000, periodMs: sweepPeriodMs };
    scheduler.after(sweepTimeoutMs, () => lambda.kill());
    const report = await sweep(ports, settings, this.#remaining(lambda, forMs));
    referee.note(`${lambda.name} ends: ${report.complete} ${report.active} ${report.restored}`);
    return report;
  }

  /** As Lambda tells it: the end of the run minus the wall clock, which may be set meanwhile. */
  #remaining(lambda: Lambda, ms: number): () => number {
    const endsAtMs = lambda.clock.nowMs() + ms;
    return () => endsAtMs - lambda.clock.nowMs();
  }

  #thawed(): Lambda | undefined {
    if (this.#frozen.length === 0 || this.#dice.chance(0.4)) return undefined;
    const [lambda] = this.#frozen.splice(this.#dice.whole(0, this.#frozen.length - 1), 1);
    lambda?.thaw();
    return lambda;
  }

  #end(lambda: Lambda): void {
    this.#drains.delete(lambda);
    lambda.freeze();
    this.#frozen.push(lambda);
  }
}
