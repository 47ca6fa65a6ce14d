import type { Dice } from './dice.ts';
import type { Lambda } from './lambda.ts';

/** The processes of one function: those at work, and those that have ended a run and are kept for another. */
export class Pool {
  readonly #dice: Dice;
  readonly #start: () => Lambda;
  readonly #frozen: Lambda[] = [];
  readonly #running = new Set<Lambda>();

  constructor(dice: Dice, start: () => Lambda) {
    this.#dice = dice;
    this.#start = start;
  }

  /** Those at work; of those that died as long as nobody has looked. */
  get running(): Lambda[] {
    for (const lambda of this.#running) if (lambda.isDead) this.#running.delete(lambda);
    return [...this.#running];
  }

  /** A new process, or one that was kept. */
  take(): Lambda {
    const lambda = this.#thawed() ?? this.#start();
    this.#running.add(lambda);
    return lambda;
  }

  /** Its run has ended. */
  keep(lambda: Lambda): void {
    this.#running.delete(lambda);
    lambda.freeze();
    this.#frozen.push(lambda);
  }

  #thawed(): Lambda | undefined {
    if (this.#frozen.length === 0 || this.#dice.chance(0.4)) return undefined;
    const [lambda] = this.#frozen.splice(this.#dice.whole(0, this.#frozen.length - 1), 1);
    lambda?.thaw();
    return lambda;
  }
}
