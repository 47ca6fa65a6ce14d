import { invalid } from '../api/answer.ts';
import { ROUTE_KINDS, type RouteKind } from '../api/route.ts';
import type { Fault, FaultKind, FaultRule } from './faults.ts';

type FieldCheck = { type: 'number' | 'string' | 'boolean' | 'object'; required?: true; oneOf?: string[] };

/** The fields of each kind of fault; all but those marked may be left out. */
const FIELDS: Record<FaultKind, Record<string, FieldCheck>> = {
  error: {
    status: { type: 'number', required: true },
    code: { type: 'string' },
    message: { type: 'string' },
    html: { type: 'boolean' },
    retryAfter: { type: 'number' },
    retryAfterForm: { type: 'string', oneOf: ['seconds', 'http-date'] },
  },
  answer: { body: { type: 'string', required: true }, status: { type: 'number' }, headers: { type: 'object' } },
  hang: {},
  delay: { ms: { type: 'number', required: true } },
  'slow-body': { bytesPerSecond: { type: 'number' } },
  'stalled-body': {},
  'huge-body': { bytes: { type: 'number' } },
  'endless-body': {},
  'gzip-bomb': { bytes: { type: 'number' } },
  'malformed-json': {},
  'cut-off-json': {},
  'cut-off-connection': {},
  'empty-body': { status: { type: 'number' } },
  'wrong-id': { id: { type: 'string' } },
  redirect: { location: { type: 'string', required: true }, status: { type: 'number' } },
  'reset-before-effect': {},
  'reset-after-effect': {},
};
const OF_RULE = new Set(['kind', 'route', 'jobId', 'count', 'probability', 'afterEffect']);

/**
 * One rule as the control endpoint takes it: `{kind, route?, jobId?, count?, probability?, afterEffect?}` and the kind's own
 * fields, all on one level. Throws a Refusal naming the field: a fault with a typing error in it would test nothing.
 */
export function readFaultRule(body: unknown, id: string): FaultRule {
  if (typeof body !== 'object' || body === null) throw invalid('body', 'must be a fault rule or a list of them');
  const given = body as Record<string, unknown>;
  const kind = given.kind;
  if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind)) {
    throw invalid('kind', `must be one of ${Object.keys(FIELDS).join(', ')}`);
  }
  const fault = readFault(given, kind as FaultKind);
  const route = given.route ?? 'any';
  if (route !== 'any' && !ROUTE_KINDS.includes(route as RouteKind)) {
    throw invalid('route', `must be any or one of ${ROUTE_KINDS.join(', ')}`);
  }
  const { jobId, count = null, probability = 1, afterEffect = false } = given;
  if (jobId !== undefined && typeof jobId !== 'string') throw invalid('jobId', 'must be a job id');
  if (count !== null && (typeof count !== 'number' || count < 0))
    throw invalid('count', 'must be a number, or null for no end');
  if (typeof probability !== 'number' || probability < 0 || probability > 1) {
    throw invalid('probability', 'must be a number from 0 to 1');
  }
  if (typeof afterEffect !== 'boolean') throw invalid('afterEffect', 'must be true or false');
  const target = { route: route as RouteKind | 'any', ...(jobId !== undefined && { jobId }) };
  return { id, ...target, left: count, probability, afterEffect, struck: 0, fault };
}

function readFault(given: Record<string, unknown>, kind: FaultKind): Fault {
  const checks = FIELDS[kind];
  for (const name of Object.keys(given)) {
    if (!OF_RULE.has(name) && !Object.hasOwn(checks, name)) throw invalid(name, `is no field of a ${kind} fault`);
  }
  const fault: Record<string, unknown> = { kind };
  for (const [name, check] of Object.entries(checks)) {
    const value = given[name];
    if (value === undefined && !check.required) continue;
    if (typeof value !== check.type) throw invalid(name, `must be a ${check.type}`);
    if (check.oneOf && !check.oneOf.includes(String(value)))
      throw invalid(name, `must be one of ${check.oneOf.join(', ')}`);
    fault[name] = value;
  }
  return fault as Fault;
}
