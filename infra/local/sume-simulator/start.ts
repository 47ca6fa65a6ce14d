import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { requestHandler } from './api/handle-request.ts';
import { findRoute } from './api/route.ts';
import { newObservations } from './control/observations.ts';
import { makeReport, type SumeSimulatorReport } from './control/report.ts';
import { type JournalLine, noJournal, openJournal } from './journal.ts';
import { makeCertificate } from './media/media-certificate.ts';
import { readSettings, type SumeSimulatorOptions } from './settings.ts';
import { type Simulator, seededRandom } from './simulator.ts';
import { Outbox } from './webhooks/outbox.ts';
import { openWorld } from './world.ts';

export type RunningSumeSimulator = {
  /** Without `/v1`; with or without it, both work as a base address. */
  url: string;
  port: number;
  /** The certificate (PEM) that HTTPS media is served with; undefined unless `mediaHttps` was asked for. */
  mediaCertificate: string | undefined;
  report(options?: { detail?: boolean }): SumeSimulatorReport;
  close(): Promise<void>;
};

const HOST = '127.0.0.1';
/** Longer than clients keep theirs, so that it is not us who closes a connection just as a request is sent on it. */
const KEEP_ALIVE_MS = 75_000;
const BAD_REQUEST = JSON.stringify({
  error: { code: 'bad_request', message: 'This is not HTTP that we understand.', details: {} },
  request_id: 'req_unparsed',
});

/** Starts a stand-in for the Sume API on 127.0.0.1. Throws a RangeError for an option that cannot be used. */
export async function startSumeSimulator(options: SumeSimulatorOptions = {}): Promise<RunningSumeSimulator> {
  const settings = readSettings(options);
  const { journal, lines } =
    settings.dataDir === undefined ? { journal: noJournal, lines: [] as JournalLine[] } : openJournal(settings.dataDir);
  const world = openWorld({
    seed: settings.seed,
    freshSeed: randomUUID(),
    lanes: settings.limits.processing,
    nowMs: settings.nowMs(),
    lines,
    journal,
  });
  const random = seededRandom(world.seed);
  const seen = newObservations();
  const outbox = new Outbox(world, settings, random, seen);
  const simulator: Simulator = {
    settings,
    world,
    seen,
    rules: [],
    random,
    tenants: new Map(),
    statusBodies: new Map(),
    secureOrigin: undefined,
    outbox,
  };
  const handler = requestHandler(simulator);
  const server = prepare(createServer(handler));
  const port = await listen(server, settings.port);
  let closed: Promise<void> | undefined;
  const secure = settings.mediaHttps ? await startMediaHttps(simulator, handler) : undefined;
  return {
    url: `http://${HOST}:${port}`,
    port,
    mediaCertificate: secure?.certificate,
    report: (wanted) => makeReport(world, simulator.seen, settings.nowMs(), wanted?.detail ?? false),
    close: () => {
      outbox.close();
      closed ??= Promise.all([stop(server), secure && stop(secure.server)]).then(() => journal.close());
      return closed;
    },
  };
}

async function startMediaHttps(
  simulator: Simulator,
  handler: RequestListener,
): Promise<{ server: Server; certificate: string }> {
  const { key, certificate } = makeCertificate(simulator.settings.nowMs());
  const server = createSecureServer({ key, cert: certificate }, (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = findRoute(request.method ?? 'GET', path);
    if (route.found && route.kind === 'media') handler(request, response);
    else response.writeHead(404).end();
  });
  simulator.secureOrigin = `https://${HOST}:${await listen(prepare(server), 0)}`;
  return { server, certificate };
}

function prepare(server: Server): Server {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', (_error, socket) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${BAD_REQUEST.length}`;
    socket.end(`${head}\r\nConnection: close\r\n\r\n${BAD_REQUEST}`);
  });
  return server;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
