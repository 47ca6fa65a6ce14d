/**
 * Runs work in order of arrival, at most `width` at a time. `run` must not reject. Creates and reads each have lanes
 * of their own, so that a slow create never holds up a read.
 */
export class Lanes<T> {
  readonly #width: number;
  readonly #run: (item: T) => Promise<void>;
  readonly #waiting: T[] = [];
  #head = 0;
  #running = 0;

  constructor(width: number, run: (item: T) => Promise<void>) {
    this.#width = width;
    this.#run = run;
  }

  get running(): number {
    return this.#running;
  }

  push(item: T): void {
    this.#waiting.push(item);
    this.#fill();
  }

  #fill(): void {
    while (this.#running < this.#width && this.#head < this.#waiting.length) {
      const item = this.#waiting[this.#head++] as T;
      this.#running++;
      void this.#run(item).finally(() => {
        this.#running--;
        this.#fill();
      });
    }
    if (this.#head > 1_000 && this.#head * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#head);
      this.#head = 0;
    }
  }
}
