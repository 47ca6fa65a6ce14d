import type { NodeProcess } from '../support/node-process.ts';
import type { RunEnded } from './messages.ts';

interface Container {
  process: NodeProcess;
  busy: boolean;
}

/** One function's containers, as Lambda keeps them: an event goes to one that rests, else to a new one. */
export class Containers {
  /** What the runs that ended by themselves reported. */
  readonly reports: Record<string, unknown>[] = [];
  kills = 0;
  /** Processes that ended by themselves. */
  crashes = 0;
  readonly #startOne: () => Promise<NodeProcess>;
  readonly #atMost: number;
  readonly #containers = new Set<Container>();
  readonly #starting = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(startOne: () => Promise<NodeProcess>, atMost: number) {
    this.#startOne = startOne;
    this.#atMost = atMost;
  }

  /** The schedule: now, and then always after so long. */
  every(periodMs: number): void {
    this.invoke();
    this.#timer = setInterval(() => this.invoke(), periodMs);
  }

  /** An asynchronous invoke. It is dropped when as many run as may. */
  invoke(event = '{}'): void {
    if (this.#stopped) return;
    const resting = [...this.#containers].find(({ busy }) => !busy);
    if (resting !== undefined) return void this.#run(resting, event);
    if (this.#containers.size + this.#starting.size >= this.#atMost) return;
    const starting = this.#startAndRun(event).finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** SIGKILL for one in the middle of its work, by its place in [0, 1). False when none is. */
  async kill(place: number): Promise<boolean> {
    const busy = [...this.#containers].filter((container) => container.busy);
    const victim = busy[Math.floor(place * busy.length)];
    if (victim === undefined) return false;
    this.#containers.delete(victim);
    this.kills++;
    await victim.process.kill();
    return true;
  }

  /** No more are started; those that there are end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await Promise.all(this.#starting);
    await Promise.all([...this.#containers].map((container) => container.process.kill()));
  }

  async #startAndRun(event: string): Promise<void> {
    try {
      const process = await this.#startOne();
      if (this.#stopped) return await process.kill();
      const container = { process, busy: false };
      this.#containers.add(container);
      void this.#run(container, event);
    } catch {
      this.crashes++;
    }
  }

  async #run(container: Container, event: string): Promise<void> {
    container.busy = true;
    try {
      const { report } = await container.process.ask<RunEnded>({ event });
      this.reports.push(report);
      container.busy = false;
    } catch {
      // Never for one that was killed here: that is not heard of any more.
      this.#containers.delete(container);
      this.crashes++;
    }
  }
}
