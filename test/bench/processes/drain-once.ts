/** One run of the packaged drain on the event that it was invoked with; sends what it reported. */
import { takeOrder } from './take-order.ts';

type Handler = (event: object, context: { getRemainingTimeInMillis(): number }) => Promise<object>;

const functionTimeoutMs = 90_000;
const { handler } = (await import(process.env.DRAIN_BUNDLE ?? '')) as { handler: Handler };
await takeOrder();
const startedAtMs = performance.now();
const leftMs = () => functionTimeoutMs - (performance.now() - startedAtMs);
process.send?.(await handler(JSON.parse(process.env.EVENT ?? '{}') as object, { getRemainingTimeInMillis: leftMs }));
