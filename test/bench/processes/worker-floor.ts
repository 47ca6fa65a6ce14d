/** The floor: the same jobs polled on time from memory. No store, so nothing survives a kill. */
import { providerIdOf } from '../job-names.ts';
import { StatusReader } from './read-status.ts';
import { takeOrder } from './take-order.ts';

const order = await takeOrder();
const reader = new StatusReader(order.statusUrl, order.concurrency);
const due: number[] = [];
let head = 0;
let running = 0;

function fill(): void {
  while (running < order.concurrency && head < due.length) {
    running++;
    void poll(due[head++] as number);
  }
}

async function poll(job: number): Promise<void> {
  const { waitMs } = await reader.read(providerIdOf(job));
  running--;
  if (waitMs !== null) dueIn(job, waitMs);
  fill();
}

function dueIn(job: number, waitMs: number): void {
  // One more, because a timer may fire up to a millisecond early.
  setTimeout(() => {
    due.push(job);
    fill();
  }, Math.max(0, waitMs) + 1);
}

for (let job = 0; job < order.jobs; job++) dueIn(job, order.firstDueAtMs + job * order.dueStepMs - Date.now());
