/**
 * The simulated provider, in a process of its own. Beside the simulator's own counts it keeps a book of every create and
 * status read: when it came, when it ended, and whether another read of the same job was under way.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startSumeSimulator } from '../../../infra/local/sume-simulator/start.ts';
import type { Ready } from '../../support/node-process.ts';
import type { ProviderCall } from '../messages.ts';
import { endWithParent } from './end-with-parent.ts';

endWithParent();

const { SEED = '', TIME_SCALE, API_KEY = '' } = process.env;
const calls: ProviderCall[] = [];
const readsUnderWay = new Map<string, ServerResponse[]>();

subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const [, readId] = /^\/v1\/jobs\/([^/?]+)\/status$/.exec(request.url ?? '') ?? [];
  const key = request.headers['idempotency-key'];
  if (readId !== undefined) noteRead(readId, response);
  else if (request.url === '/v1/videos')
    calls.push({ kind: 'create', about: String(key), atMs: Date.now(), overlaps: false });
});

function noteRead(id: string, response: ServerResponse): void {
  const others = readsUnderWay.get(id)?.filter(isUnderWay) ?? [];
  calls.push({ kind: 'read', about: id, atMs: Date.now(), overlaps: others.length > 0 });
  readsUnderWay.set(id, [...others, response]);
}

/** A connection that we have just reset is over, even while its end has not been told yet. */
function isUnderWay({ socket, writableFinished }: ServerResponse): boolean {
  return !writableFinished && socket !== null && !socket.destroyed && !socket.writableEnded;
}

const simulator = await startSumeSimulator({
  seed: SEED,
  timeScale: Number(TIME_SCALE),
  apiKeys: [API_KEY],
  failureShare: 0.08,
  answerDelayMs: { mean: 60, spread: 50 },
  // Room and money for all: that there is none for a while is one of the faults. But not for all to render at once.
  startBalanceUsdMicros: Number.MAX_SAFE_INTEGER,
  limits: {
    processing: 40,
    queued: Number.POSITIVE_INFINITY,
    readsPerMinute: Number.POSITIVE_INFINITY,
    readsPerDay: Number.POSITIVE_INFINITY,
    createsPerMinute: Number.POSITIVE_INFINITY,
    createsPerDay: Number.POSITIVE_INFINITY,
  },
});
process.on('message', () => process.send?.({ calls }));
process.send?.({ kind: 'ready', url: simulator.url } satisfies Ready);
