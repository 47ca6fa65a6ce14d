import { setTimeout as sleep } from 'node:timers/promises';

/** A part that runs in a process of its own. */
export interface RunningPart {
  url: string;
  port: number;
  pid: number;
  /** Resolves with how the process ended, e.g. `SIGKILL` or `exit code 1`. */
  exited: Promise<string>;
  close(): Promise<void>;
}

export type PartEvent =
  | { kind: 'up'; name: string; part: RunningPart; tookMs: number }
  | { kind: 'died'; name: string; how: string }
  | { kind: 'back'; name: string; part: RunningPart; tookMs: number }
  | { kind: 'start-failed'; name: string; reason: string }
  | { kind: 'given-up'; name: string };

export interface SupervisedPart<T extends RunningPart> {
  current(): T;
  /** How often it was started again. */
  restarts(): number;
  close(): Promise<void>;
}

export interface SuperviseOptions<T extends RunningPart> {
  name: string;
  /** Gets the part that died, so that the new one takes its ports. */
  start: (before: T | undefined) => Promise<T>;
  onEvent: (event: PartEvent) => void;
  /** Default 5. */
  restartsPerMinuteMax?: number;
  /** Milliseconds, never going back; for tests. */
  nowMs?: () => number;
}

/**
 * Starts a part and keeps it going: if its process dies, it is started again, at most so many times in a minute; then it is
 * given up. Rejects if the first start fails.
 */
export async function supervise<T extends RunningPart>(options: SuperviseOptions<T>): Promise<SupervisedPart<T>> {
  const nowMs = options.nowMs ?? (() => performance.now());
  const startedAtMs = nowMs();
  const part = await options.start(undefined);
  options.onEvent({ kind: 'up', name: options.name, part, tookMs: nowMs() - startedAtMs });
  return new Supervisor(options, nowMs, part);
}

class Supervisor<T extends RunningPart> implements SupervisedPart<T> {
  readonly #options: SuperviseOptions<T>;
  readonly #nowMs: () => number;
  #part: T;
  #closing = false;
  #restarts = 0;
  /** When it was tried to start the part again, over the last minute. */
  readonly #triesAtMs: number[] = [];
  #coming: Promise<void> | undefined;

  constructor(options: SuperviseOptions<T>, nowMs: () => number, part: T) {
    this.#options = options;
    this.#nowMs = nowMs;
    this.#part = part;
    this.#watch();
  }

  current(): T {
    return this.#part;
  }

  restarts(): number {
    return this.#restarts;
  }

  async close(): Promise<void> {
    this.#closing = true;
    // A start under way can't be called off; it sees `#closing` when it is done.
    await Promise.race([this.#coming, sleep(1_500, undefined, { ref: false })]);
    await this.#part.close();
  }

  #watch(): void {
    this.#part.exited.then((how) => {
      if (this.#closing) return;
      this.#options.onEvent({ kind: 'died', name: this.#options.name, how });
      this.#coming = this.#bringBack();
    });
  }

  async #bringBack(): Promise<void> {
    const { name, onEvent, start } = this.#options;
    while (!this.#closing) {
      const beganAtMs = this.#nowMs();
      if (!this.#mayTry(beganAtMs)) return onEvent({ kind: 'given-up', name });
      try {
        this.#part = await start(this.#part);
      } catch (error) {
        onEvent({ kind: 'start-failed', name, reason: error instanceof Error ? error.message : `${error}` });
        await sleep(200);
        continue;
      }
      this.#restarts += 1;
      if (this.#closing) return this.#part.close();
      onEvent({ kind: 'back', name, part: this.#part, tookMs: this.#nowMs() - beganAtMs });
      return this.#watch();
    }
  }

  #mayTry(nowMs: number): boolean {
    const tries = this.#triesAtMs;
    while (tries[0] !== undefined && tries[0] <= nowMs - 60_000) tries.shift();
    if (tries.length >= (this.#options.restartsPerMinuteMax ?? 5)) return false;
    tries.push(nowMs);
    return true;
  }
}
