/** A container of Lambda's: takes one event after another, and runs the packaged function on each with the time that its Lambda has. */
import { endWithParent } from '../../chaos/processes/end-with-parent.ts';
import type { Ready } from '../../support/node-process.ts';
import type { Invocation, RunEnded } from '../messages.ts';

endWithParent();

type Handler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<Record<string, unknown>>;

const { BUNDLE = '', TIMEOUT_MS } = process.env;
const loaded = import(BUNDLE) as Promise<{ handler: Handler }>;

async function run({ event }: Invocation): Promise<void> {
  const startedAtMs = performance.now();
  const { handler } = await loaded;
  const leftMs = () => Number(TIMEOUT_MS) - (performance.now() - startedAtMs);
  const report = await handler(JSON.parse(event), { getRemainingTimeInMillis: leftMs });
  process.send?.({ report } satisfies RunEnded);
}

process.on('message', (invocation) => void run(invocation as Invocation));
process.send?.({ kind: 'ready' } satisfies Ready);
