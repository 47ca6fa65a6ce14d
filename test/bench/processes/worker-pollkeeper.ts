/**
 * Pollkeeper: the packaged drain, invoked as its schedule would. A run that ends because its window is over is followed by the
 * next one at once (on AWS the next minute's has begun already); one that ends idle, by the next minute's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { takeOrder } from './take-order.ts';

type Handler = (event: object, context: { getRemainingTimeInMillis(): number }) => Promise<{ ended: string }>;

const functionTimeoutMs = 90_000;
const minuteMs = 60_000;
const { handler } = (await import(process.env.DRAIN_BUNDLE ?? '')) as { handler: Handler };
await takeOrder();
for (;;) {
  const startedAtMs = performance.now();
  const leftMs = () => functionTimeoutMs - (performance.now() - startedAtMs);
  const { ended } = await handler({}, { getRemainingTimeInMillis: leftMs });
  if (ended !== 'window') await sleep(Math.max(0, startedAtMs + minuteMs - performance.now()));
}
