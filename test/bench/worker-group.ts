import { usageOf } from './process-usage.ts';
import type { BenchProcess } from './spawn.ts';

/** What workers used, each after the other or side by side. */
export interface WorkerUsage {
  cpuSeconds: number;
  /** Of the largest. */
  peakBytes: number;
}

/** The processes that do a run's work together: one, or in the fan-out several on the same store. */
export class WorkerGroup {
  readonly #workers: readonly BenchProcess[];
  /** Rejects when one of them ends by itself. Never resolves. */
  readonly failed: Promise<never>;

  private constructor(workers: readonly BenchProcess[]) {
    this.#workers = workers;
    this.failed = Promise.race(workers.map(({ failed }) => failed));
    this.failed.catch(() => {});
  }

  static async start(count: number, start: () => Promise<BenchProcess>): Promise<WorkerGroup> {
    const started = await Promise.allSettled(Array.from({ length: count }, start));
    const group = new WorkerGroup(started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
    const failure = started.find((one) => one.status === 'rejected');
    if (failure === undefined) return group;
    await group.kill();
    throw failure.reason;
  }

  get usage(): WorkerUsage {
    const used: WorkerUsage = { cpuSeconds: 0, peakBytes: 0 };
    for (const { pid } of this.#workers) {
      const usage = usageOf(pid);
      used.cpuSeconds += usage?.cpuSeconds ?? 0;
      used.peakBytes = Math.max(used.peakBytes, usage?.peakBytes ?? 0);
    }
    return used;
  }

  send(message: object): void {
    for (const worker of this.#workers) worker.send(message);
  }

  async kill(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
  }
}
