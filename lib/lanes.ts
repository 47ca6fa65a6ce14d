/**
 * Runs work in order of arrival, at most `width` at a time. Creates and reads each have lanes of their own, so that a
 * slow create never holds up a read.
 */
export class Lanes<T> {
  #width: number;
  readonly #run: (item: T, free: () => void) => Promise<void>;
  readonly #waiting: T[] = [];
  #head = 0;
  #occupied = 0;
  #running = 0;

  /** `run` must not reject. It may call `free` before it ends: the lane is then open, while the rest of the work goes on. */
  constructor(width: number, run: (item: T, free: () => void) => Promise<void>) {
    this.#width = width;
    this.#run = run;
  }

  /** Work begun and not ended, in a lane or past it. */
  get running(): number {
    return this.#running;
  }

  get width(): number {
    return this.#width;
  }

  /** Work beyond a smaller width goes on; none begins until as many lanes are free. */
  set width(lanes: number) {
    this.#width = lanes;
    this.#fill();
  }

  push(item: T): void {
    this.#waiting.push(item);
    this.#fill();
  }

  #fill(): void {
    while (this.#occupied < this.#width && this.#head < this.#waiting.length) {
      this.#start(this.#waiting[this.#head++] as T);
    }
    if (this.#head > 1_000 && this.#head * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#head);
      this.#head = 0;
    }
  }

  #start(item: T): void {
    let held = true;
    const free = () => {
      if (!held) return;
      held = false;
      this.#occupied--;
      this.#fill();
    };
    this.#occupied++;
    this.#running++;
    void this.#run(item, free).finally(() => {
      this.#running--;
      free();
    });
  }
}
