import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FaultRule, hasEffect, strike } from '../control/faults.ts';
import { handleControl } from '../control/handle-control.ts';
import { type ReadLog, readArrived } from '../control/observations.ts';
import { serveMedia } from '../media/serve-media.ts';
import { passGate } from '../render/gate.ts';
import type { Simulator, Tenant } from '../simulator.ts';
import { type Answer, Refusal, refusalAnswer } from './answer.ts';
import type { Call } from './call.ts';
import { cancelJob } from './cancel-job.ts';
import { createVideo } from './create-video.ts';
import { deliver, type Exchange, refuse } from './exchange.ts';
import { HEALTH_BODY, readBalance, readMe, readUsage } from './read-account.ts';
import { parseBody, readBody } from './read-body.ts';
import { listJobs, readEvents, readJob, readStatus } from './read-job.ts';
import { readResult } from './read-result.ts';
import { findRoute, type Route, type RouteKind } from './route.ts';

const ACTS: Record<Exclude<RouteKind, 'health' | 'media'>, (call: Call) => Answer> = {
  create: createVideo,
  cancel: cancelJob,
  status: readStatus,
  job: readJob,
  list: listJobs,
  events: readEvents,
  result: readResult,
  balance: readBalance,
  usage: readUsage,
  me: readMe,
};
const NO_ANSWER: Answer = { status: 200, body: '' };

/**
 * From the first byte to the answer: route, gate (key, rate limit), fault, effect. A GET runs through in one go;
 * for a POST only its body is waited for, so an effect is never half done when the next request looks.
 */
export function requestHandler(simulator: Simulator): (request: IncomingMessage, response: ServerResponse) => void {
  const prefix = `req_${Math.floor(simulator.random() * 2 ** 32).toString(36)}`;
  let serial = 0;
  return (request, response) => {
    const arrivedAtMs = simulator.settings.monotonicMs();
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    if (path.startsWith('/__control/')) return void handleControl(simulator, request, response, path, query);
    serial += 1;
    const route = findRoute(request.method ?? 'GET', path);
    const exchange: Exchange = {
      simulator,
      request,
      response,
      requestId: `${prefix}${serial.toString(36)}`,
      kind: route.found ? route.kind : undefined,
      jobId: route.found ? route.jobId : '',
      query,
      log: writeDown(simulator, route, arrivedAtMs),
      verdict: undefined,
    };
    if (!route.found) return refuse(exchange, noRoute(route.allow, path));
    if (request.method !== 'POST') return proceed(exchange, route.kind, '');
    readBody(request).then(
      (text) => proceed(exchange, route.kind, text),
      (error: unknown) => (error instanceof Refusal ? refuse(exchange, error) : response.destroy()),
    );
  };
}

function writeDown({ seen, world }: Simulator, route: Route, nowMs: number): ReadLog | undefined {
  if (!route.found) return undefined;
  const { kind, jobId } = route;
  seen.requests[kind] = (seen.requests[kind] ?? 0) + 1;
  if (kind === 'create') seen.createsReceived += 1;
  if (kind !== 'status') return undefined;
  seen.providerReads += 1;
  return world.jobs.has(jobId) ? readArrived(seen, jobId, nowMs) : undefined;
}

function proceed(exchange: Exchange, kind: RouteKind, text: string): void {
  const { simulator } = exchange;
  let rule: FaultRule | undefined;
  let answer = NO_ANSWER;
  try {
    const tenant = kind === 'health' || kind === 'media' ? undefined : passGate(exchange);
    if (simulator.rules.length > 0) rule = strike(simulator.rules, { kind, jobId: exchange.jobId }, simulator.random);
    if (kind === 'media' && rule === undefined) {
      serveMedia(exchange);
      return;
    }
    if (rule === undefined || hasEffect(rule)) answer = act(exchange, kind, tenant, text);
  } catch (error) {
    answer = refusalAnswer(asRefusal(error), exchange.requestId);
  }
  deliver(exchange, answer, rule);
}

function act(exchange: Exchange, kind: RouteKind, tenant: Tenant | undefined, text: string): Answer {
  if (kind === 'health' || kind === 'media' || tenant === undefined) return { status: 200, body: HEALTH_BODY };
  const { simulator, request, jobId, query } = exchange;
  const key = request.headers['idempotency-key'];
  return ACTS[kind]({
    simulator,
    kind,
    jobId,
    tenant,
    query,
    body: parseBody(text),
    idempotencyKey: Array.isArray(key) ? key.join(', ') : key,
    origin: originOf(request),
    nowMs: simulator.settings.nowMs(),
  });
}

/** Addresses in answers use the name the client itself used, so that they work from inside a container as well. */
function originOf(request: IncomingMessage): string {
  const host = request.headers.host ?? '';
  if (/^[\w.:[\]-]+$/.test(host)) return `http://${host}`;
  return `http://${request.socket.localAddress}:${request.socket.localPort}`;
}

function noRoute(allow: string | undefined, path: string): Refusal {
  if (allow === undefined) return new Refusal(404, 'not_found', 'No such path.', { path: path.slice(0, 200) });
  return new Refusal(405, 'method_not_allowed', `This path takes ${allow}.`, {}, ['Allow', allow]);
}

/** A mistake of the simulator's own is answered like the service's, and told to whoever runs it. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  console.error('Sume simulator:', error);
  return new Refusal(500, 'internal_error', 'Something went wrong on our side.');
}
