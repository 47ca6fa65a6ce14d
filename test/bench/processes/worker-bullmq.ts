/** BullMQ: one job an id, put off again by its own processor. What was chosen and why stands in contender.ts. */
import { DelayedError, type Job, Worker } from 'bullmq';
import { bullQueue, bullWorkerOptions } from '../peer-settings.ts';
import { StatusReader } from './read-status.ts';
import { takeOrder } from './take-order.ts';

const concurrency = Number(process.env.CONCURRENCY);
const reader = new StatusReader(process.env.STATUS_URL ?? '', concurrency);

async function poll(job: Job<{ providerId: string }>, token?: string): Promise<void> {
  const { waitMs } = await reader.read(job.data.providerId);
  if (waitMs === null) return;
  await job.moveToDelayed(Date.now() + waitMs, token);
  throw new DelayedError();
}

const worker = new Worker(bullQueue, poll, {
  ...bullWorkerOptions,
  autorun: false,
  concurrency,
  connection: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null },
});
worker.on('error', (error) => console.error('BullMQ:', error.message));
await worker.waitUntilReady();
await takeOrder();
await worker.run();
