import { randomUUID } from 'node:crypto';
import { jsonLog, type Log } from '../log.ts';
import { withLogContext } from '../log-context.ts';
import type { Clock, Random } from '../ports.ts';

/* The only place that reads the clock, rolls the dice and writes to standard output. */

export const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const endsAtMs = performance.now() + delayMs;
      let timer: NodeJS.Timeout;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      // A timer may fire a little early, and can't be longer than 2^31 ms.
      const wait = () => {
        const leftMs = endsAtMs - performance.now();
        if (leftMs <= 0) return done();
        timer = setTimeout(wait, Math.min(Math.ceil(leftMs), 2 ** 31 - 1));
      };
      signal?.addEventListener('abort', done);
      wait();
    });
  },
};

export const random: Random = () => Math.random();

export const newId = (): string => randomUUID();

export const log: Log = withLogContext(jsonLog((line) => process.stdout.write(`${line}\n`), clock.nowMs));
