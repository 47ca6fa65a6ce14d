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
  let part = await options.start(undefined);
  let closing = false;
  let restarts = 0;
  let coming: Promise<void> | undefined;
  options.onEvent({ kind: 'up', name: options.name, part, tookMs: nowMs() - startedAtMs });

  const watch = (watched: T) => {
    watched.exited.then((how) => {
      if (closing) return;
      options.onEvent({ kind: 'died', name: options.name, how });
      coming = bringBack();
    });
  };
  const recent: number[] = [];
  const bringBack = async () => {
    while (!closing) {
      while (recent[0] !== undefined && recent[0] <= nowMs() - 60_000) recent.shift();
      if (recent.length >= (options.restartsPerMinuteMax ?? 5)) {
        options.onEvent({ kind: 'given-up', name: options.name });
        return;
      }
      const beganAtMs = nowMs();
      recent.push(beganAtMs);
      try {
        part = await options.start(part);
      } catch (error) {
        options.onEvent({
          kind: 'start-failed',
          name: options.name,
          reason: error instanceof Error ? error.message : `${error}`,
        });
        await sleep(200);
        continue;
      }
      restarts += 1;
      if (closing) return part.close();
      options.onEvent({ kind: 'back', name: options.name, part, tookMs: nowMs() - beganAtMs });
      watch(part);
      return;
    }
  };
  watch(part);
  return {
    current: () => part,
    restarts: () => restarts,
    close: async () => {
      closing = true;
      // A start under way can't be called off; it sees `closing` when it is done.
      await Promise.race([coming, sleep(1_500, undefined, { ref: false })]);
      await part.close();
    },
  };
}
