/* What the client needs of the world. The defaults are there in Node 20, browsers and edge runtimes alike. */

/** Of a timer, ms: one that is set for longer goes off at once. */
export const timerMaxMs = 2 ** 31 - 1;

export interface Runtime {
  fetch: typeof fetch;
  /** From 0 up to 1, without 1. */
  random: () => number;
  /** Ms since 1970. */
  nowMs: () => number;
  /** Resolves after so many ms, or at once when the signal is aborted. */
  sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  /** A new idempotency key. */
  newKey: () => string;
}

export const usualRuntime: Runtime = {
  // Not `fetch` itself: some runtimes refuse it as a method of another object.
  fetch: (input, init) => fetch(input, init),
  random: () => Math.random(),
  nowMs: () => Date.now(),
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(delayMs, timerMaxMs));
      signal?.addEventListener('abort', done);
    });
  },
  newKey: () => crypto.randomUUID(),
};
