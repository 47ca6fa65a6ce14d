import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/ports.ts';
import { testNowMs } from './dynamo.ts';

/** Virtual time, from `testNowMs` on. It jumps to the next timer whenever nothing else is left to do. */
export class JumpClock implements Clock {
  #ms = 0;
  #calls = 0;
  readonly #sleepers = new Map<() => void, number>();

  readonly monotonicMs = (): number => this.#ms;
  readonly nowMs = (): number => Math.floor(testNowMs + this.#ms);

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(wake);
        resolve();
      };
      if (signal?.aborted === true) return resolve();
      signal?.addEventListener('abort', wake, { once: true });
      this.#sleepers.set(wake, this.#ms + Math.max(delayMs, 0));
    });
  }

  /** The same part, but time stands still while it answers. */
  waitingFor<T extends object>(part: T): T {
    const get = (target: T, name: string | symbol) => {
      return async (...given: unknown[]) => {
        this.#calls++;
        const call = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        try {
          return await call.apply(target, given);
        } finally {
          this.#calls--;
        }
      };
    };
    return new Proxy(part, { get });
  }

  /** Lets time go on until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const done = () => {
      over = true;
    };
    work.then(done, done);
    for (;;) {
      await setImmediate();
      if (over) return work;
      if (this.#calls === 0) this.#jump();
    }
  }

  #jump(): void {
    const next = [...this.#sleepers].reduce((a, b) => (b[1] < a[1] ? b : a), [() => {}, Number.POSITIVE_INFINITY]);
    const [wake, atMs] = next;
    if (atMs === Number.POSITIVE_INFINITY) throw new Error('Work is left, and nothing is waited for.');
    this.#ms = Math.max(this.#ms, atMs);
    wake();
  }
}
