/**
 * The simulated provider, in a process of its own. It keeps a book of how late the status reads of some jobs come: from the
 * moment when the wait that its last whole answer asked for was over, until the next read is here.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { nextPollAfterSeconds } from '../../../infra/local/sume-simulator/api/poll-hint.ts';
import type { SumeSimulatorOptions } from '../../../infra/local/sume-simulator/settings.ts';
import { startSumeSimulator } from '../../../infra/local/sume-simulator/start.ts';
import { endWithParent } from '../../chaos/processes/end-with-parent.ts';
import type { Ready } from '../../support/node-process.ts';
import type { AskSeen, ReadsSeen, WatchReads } from '../messages.ts';

endWithParent();

const options = JSON.parse(process.env.OPTIONS ?? '{}') as SumeSimulatorOptions;
/** Every render is in work at once, so that all of them are told the same wait. */
const hintMs = (nextPollAfterSeconds('processing', 0, options.timeScale ?? 1) ?? 0) * 1000;
/** By job: when it is due, monotonic ms. */
const dueAtMs = new Map<string, number>();
let watched = new Set<string>();
let latenessMs: number[] = [];

subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const [, id = ''] = /^\/v1\/jobs\/([^/?]+)\/status$/.exec(request.url ?? '') ?? [];
  if (!watched.has(id)) return;
  const due = dueAtMs.get(id);
  if (due !== undefined) latenessMs.push(performance.now() - due);
  response.once('finish', () => dueAtMs.set(id, performance.now() + hintMs));
});

const simulator = await startSumeSimulator(options);
process.on('message', (asked: WatchReads | AskSeen) => {
  if (asked.kind === 'seen') return void process.send?.({ latenessMs } satisfies ReadsSeen);
  watched = new Set(asked.ids);
  dueAtMs.clear();
  latenessMs = [];
  process.send?.({});
});
process.send?.({ kind: 'ready', url: simulator.url } satisfies Ready);
