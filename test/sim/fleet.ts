import { type DrainPorts, type DrainSettings, drain } from '../../lib/drain.ts';
import { type SweepReport, sweep } from '../../lib/sweep.ts';
import { type DeliverSettings, deliver } from '../../lib/webhooks/deliver.ts';
import type { Dice } from './dice.ts';
import { Doors, type Outside } from './doors.ts';
import { Lambda } from './lambda.ts';
import { Pool } from './pool.ts';

const drainTimeoutMs = 90_000;
const sweepTimeoutMs = 120_000;
const deliverTimeoutMs = 60_000;
/** Drains at a time; what would start one more is refused, as by an account's limit. */
const drainsMax = 5;
const deliversMax = 2;

export interface FleetSettings {
  drain: DrainSettings;
  deliver: DeliverSettings;
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
  readonly #drains: Pool;
  readonly #delivers: Pool;
  #started = 0;

  constructor(outside: Outside, settings: FleetSettings) {
    this.#outside = outside;
    this.#dice = outside.dice.fork('fleet');
    this.#settings = settings;
    this.#drains = new Pool(this.#dice, () => this.start('drain'));
    const dice = this.#dice.fork('delivers');
    this.#delivers = new Pool(dice, () => this.start('deliver', dice));
  }

  /** Drains and deliverers under way. */
  get workers(): Lambda[] {
    return [...this.#drains.running, ...this.#delivers.running];
  }

  start(kind: Lambda['kind'], dice = this.#dice): Lambda {
    const { skewMaxMs } = this.#settings;
    const skewMs = dice.between(-skewMaxMs, skewMaxMs);
    const name = `${kind}${++this.#started}`;
    return new Lambda(kind, name, this.#outside.scheduler, this.#dice.fork(name), skewMs);
  }

  drain(as?: 'helper'): void {
    const { referee, scheduler } = this.#outside;
    if (this.#drains.running.length >= drainsMax) {
      referee.note('no drain is started: too many are');
      return;
    }
    const lambda = this.#drains.take();
    referee.note(`${lambda.name} starts${as ? ' as helper' : ''}`);
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
        this.#drains.keep(lambda);
      },
      (error) => referee.broken('a drain never rejects', `${lambda.name}: ${error}`),
    );
    scheduler.after(drainTimeoutMs, () => {
      if (!over) lambda.kill();
    });
  }

  /** Nothing where nobody listens. */
  deliver(): void {
    const { referee, scheduler } = this.#outside;
    if (this.#outside.telling === null || this.#delivers.running.length >= deliversMax) return;
    const lambda = this.#delivers.take();
    referee.note(`${lambda.name} starts`);
    const ports = new Doors(this.#outside, lambda).deliverPorts;
    if (ports === null) return;
    let over = false;
    deliver(ports, this.#settings.deliver, this.#remaining(lambda, deliverTimeoutMs)).then(
      (report) => {
        over = true;
        referee.saw(`deliver ended ${report.ended}`);
        referee.note(`${lambda.name} ends: ${report.ended} ${report.madeOut} ${report.attempts}`);
        this.#delivers.keep(lambda);
      },
      (error) => referee.broken('who delivers never rejects', `${lambda.name}: ${error}`),
    );
    scheduler.after(deliverTimeoutMs, () => {
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
}
