import { type CancelPorts, type CancelResult, cancel } from '../../lib/cancel.ts';
import { JobStoreError } from '../../lib/errors.ts';
import { isActive, type Job } from '../../lib/job.ts';
import type { Provider } from '../../lib/ports.ts';
import type { Dice } from './dice.ts';
import { Doors, type Outside } from './doors.ts';
import type { Fleet } from './fleet.ts';

/** Of an API process, which could do more than it should. */
export type Cancel = (ports: CancelPorts & { provider: Provider }, job: Job) => Promise<CancelResult>;

/** An API call without an answer by then is over for its client, ms. */
const patienceMs = 15_000;
const triesMax = 4;
const cancelsMax = 20;

/** Those who change their minds: now and then a job is to be canceled, sometimes by two at once, sometimes again. */
export class Cancelers {
  readonly #outside: Outside;
  readonly #fleet: Fleet;
  readonly #cancel: Cancel;
  readonly #dice: Dice;
  readonly #meanMs: number;
  readonly #max: number;
  #count = 0;

  constructor(outside: Outside, fleet: Fleet, act: Cancel = cancel) {
    this.#outside = outside;
    this.#fleet = fleet;
    this.#cancel = act;
    this.#dice = outside.dice.fork('cancelers');
    this.#meanMs = this.#dice.spread(2_000, 120_000);
    this.#max = outside.telling === null || this.#dice.chance(0.2) ? 0 : cancelsMax;
  }

  start(): void {
    const { scheduler, weather } = this.#outside;
    if (this.#count >= this.#max) return;
    scheduler.after(this.#dice.between(0, 2 * this.#meanMs), () => {
      if (weather.isCalm) return;
      this.#come();
      this.start();
    });
  }

  #come(): void {
    const jobs = [...this.#outside.store.all.values()];
    const active = jobs.filter(({ state }) => isActive(state));
    const some = active.length > 0 && this.#dice.chance(0.85) ? active : jobs;
    if (some.length === 0) return;
    this.#count++;
    const { id } = this.#dice.pick(some);
    for (let copies = this.#dice.chance(0.2) ? 2 : 1; copies > 0; copies--) this.#try(id, 1);
    if (this.#dice.chance(0.2)) {
      this.#outside.scheduler.after(this.#dice.spread(1_000, 300_000), () => this.#try(id, triesMax));
    }
  }

  #try(id: string, tries: number): void {
    const { scheduler } = this.#outside;
    const lambda = this.#fleet.start('api', this.#dice);
    const { ports } = new Doors(this.#outside, lambda);
    let open = true;
    const end = (isAnswered: boolean) => {
      const again = open && !isAnswered && tries < triesMax;
      open = false;
      if (again) scheduler.after(this.#dice.spread(100, 20_000), () => this.#try(id, tries + 1));
    };
    this.#act(ports, id).then(
      () => end(true),
      (error) => {
        if (!(error instanceof JobStoreError))
          this.#outside.referee.broken('a cancel fails with a JobStoreError only', String(error));
        end(false);
      },
    );
    scheduler.after(patienceMs, () => {
      lambda.kill();
      end(false);
    });
  }

  async #act(ports: Doors['ports'], id: string): Promise<void> {
    const job = await ports.store.get(id);
    if (job === null) return;
    const { kind } = await this.#cancel(ports, job);
    const { referee, store } = this.#outside;
    referee.saw(`cancel ${kind}`);
    const stored = store.all.get(id);
    const isSo =
      kind === 'canceled'
        ? stored?.state === 'canceled'
        : kind === 'raced' ||
          stored?.cancelAskedAtMs !== undefined ||
          (stored !== undefined && !isActive(stored.state));
    if (!isSo) referee.broken('a cancel is answered as the record says', `${id} ${kind}, but ${stored?.state}`);
  }
}
