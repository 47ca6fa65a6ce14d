import type { Clock } from '../../lib/ports.ts';
import { clock as realClock } from '../../lib/wire/process.ts';

/**
 * A clock that runs `speed` times as fast as the machine's, given to every part alike, so that minutes of polling pass
 * in seconds and all proportions stay. `advance` lets it jump.
 */
export class FastClock implements Clock {
  readonly #speed: number;
  readonly #startedAtMs = performance.now();
  readonly #epochMs = Date.now();
  #jumpedMs = 0;

  constructor(speed: number) {
    this.#speed = speed;
  }

  readonly monotonicMs = (): number => (performance.now() - this.#startedAtMs) * this.#speed + this.#jumpedMs;

  readonly nowMs = (): number => Math.floor(this.#epochMs + this.monotonicMs());

  advance(ms: number): void {
    this.#jumpedMs += ms;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return realClock.sleep(delayMs / this.#speed, signal);
  }
}
