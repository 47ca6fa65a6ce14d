/** The bare limit: the same number of reads, back to back over the same number of lanes, waiting for nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { providerIdOf } from '../job-names.ts';
import { StatusReader } from './read-status.ts';
import { takeOrder } from './take-order.ts';

const order = await takeOrder();
const reader = new StatusReader(order.statusUrl, order.concurrency);
const total = order.jobs * order.polls;
let next = 0;

async function lane(): Promise<void> {
  while (next < total) await reader.read(providerIdOf(next++ % order.jobs));
}

await sleep(Math.max(0, order.firstDueAtMs - Date.now()));
await Promise.all(Array.from({ length: order.concurrency }, lane));
