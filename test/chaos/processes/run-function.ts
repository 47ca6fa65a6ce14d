/** One run of a packaged function on the event that it was invoked with, with the time that its Lambda has; then it ends. */
import type { Ready } from '../../support/node-process.ts';
import type { RunEnded } from '../messages.ts';
import { endWithParent } from './end-with-parent.ts';

endWithParent();

type Handler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<Record<string, unknown>>;

const { BUNDLE = '', EVENT = '{}', TIMEOUT_MS } = process.env;
process.send?.({ kind: 'ready' } satisfies Ready);
const startedAtMs = performance.now();
const { handler } = (await import(BUNDLE)) as { handler: Handler };
const leftMs = () => Number(TIMEOUT_MS) - (performance.now() - startedAtMs);
const report = await handler(JSON.parse(EVENT), { getRemainingTimeInMillis: leftMs });
process.send?.({ kind: 'ended', report } satisfies RunEnded, () => process.exit(0));
