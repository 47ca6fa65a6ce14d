/** One run of the packaged sweep with the time that its Lambda has; sends what it reported, and how long it took. */
import { takeOrder } from './take-order.ts';

type Handler = (event: object, context: { getRemainingTimeInMillis(): number }) => Promise<object>;

const { handler } = (await import(process.env.SWEEP_BUNDLE ?? '')) as { handler: Handler };
await takeOrder();
const startedAtMs = performance.now();
const leftMs = () => Number(process.env.TIMEOUT_MS) - (performance.now() - startedAtMs);
const report = await handler({}, { getRemainingTimeInMillis: leftMs });
process.send?.({ ...report, milliseconds: performance.now() - startedAtMs });
