import type { IncomingMessage } from 'node:http';
import { Refusal, tooMany } from '../api/answer.ts';
import type { Exchange } from '../api/exchange.ts';
import { takeRequest } from '../api/rate-limit.ts';
import { keyLogOf, noteRefusal, noteRequest } from '../control/key-log.ts';
import { MINUTE_MS, type Tenant, tenantOf } from '../simulator.ts';

/** Lets a request with a good key and a place in its rate limits through. Throws a Refusal. */
export function passGate(exchange: Exchange): Tenant {
  const { simulator, request, kind } = exchange;
  const apiKey = readApiKey(request);
  const challenge = ['WWW-Authenticate', 'Bearer'];
  if (apiKey === '')
    throw new Refusal(401, 'missing_api_key', 'Send Authorization: Bearer <key> or x-api-key.', {}, challenge);
  const tenant = tenantOf(simulator, apiKey);
  if (tenant === undefined) throw new Refusal(401, 'invalid_api_key', 'This API key is not known.', {}, challenge);
  const nowMs = simulator.settings.nowMs();
  const log = keyLogOf(simulator.seen, tenant.workspace.id);
  noteRequest(log, kind === 'create' ? 'creates' : 'reads', nowMs, MINUTE_MS / simulator.settings.timeScale);
  const verdict = takeRequest(kind === 'create' ? tenant.creates : tenant.reads, nowMs);
  exchange.verdict = verdict;
  if (verdict?.allowed === false) {
    noteRefusal(log, kind === 'create' ? 'createsRefusedForRate' : 'readsRefused', nowMs);
    const details = { limit: verdict.limit };
    throw tooMany('rate_limit_exceeded', 'Too many requests with this API key.', verdict.resetSeconds, details);
  }
  return tenant;
}

/** `Authorization: Bearer <key>` or `x-api-key: <key>`; empty when neither is there. */
function readApiKey(request: IncomingMessage): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const header = request.headers['x-api-key'];
  return (Array.isArray(header) ? (header[0] ?? '') : (header ?? '')).trim();
}
