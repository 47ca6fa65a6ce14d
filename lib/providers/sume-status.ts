import { hintMs } from '../due.ts';
import type { Usage } from '../job.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Phase } from '../outcome.ts';

/*
 * What a Sume status document says, in either of its forms: fields at the top level (the newer one), or inside `data`
 * with the job's own in `data.job`. The shape is never trusted: known fields are copied by name and checked.
 */

export type Verdict =
  | { kind: 'running'; phase: Phase }
  | { kind: 'completed' }
  | { kind: 'ended'; as: 'failed' | 'canceled' | 'expired'; recognised: boolean }
  /** The document says two things at once, or nothing. */
  | { kind: 'unclear' };

export interface StatusDocument {
  /** The job it speaks of; undefined when it does not say. */
  jobId?: string;
  word?: string;
  verdict: Verdict;
  hintMs: number | null;
  usage?: Usage;
}

const endWords: Readonly<Record<string, 'completed' | 'failed' | 'canceled' | 'expired'>> = {
  completed: 'completed',
  complete: 'completed',
  success: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  error: 'failed',
  errored: 'failed',
  canceled: 'canceled',
  cancelled: 'canceled',
  aborted: 'canceled',
  expired: 'expired',
};
const runningWords: Readonly<Record<string, Phase>> = {
  queued: 'queued',
  pending: 'queued',
  running: 'processing',
  processing: 'processing',
};

export function readStatus(document: JsonObject): StatusDocument {
  const look = fieldsOf(document);
  const word = text(look('sume_status')) ?? text(look('status'));
  const terminal = look('terminal');
  const usage = readUsage(look('usage'));
  const jobId = jobIdOf(document);
  return {
    verdict: verdictOf(word?.toLowerCase(), typeof terminal === 'boolean' ? terminal : undefined),
    hintMs: hintMs(look('next_poll_after_seconds')),
    ...(jobId === undefined ? {} : { jobId }),
    ...(word === undefined ? {} : { word }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/**
 * `terminal` says whether to stop; without it the word does. A word that we do not know is running, unless `terminal`
 * is true: then the job ended in a way that is not success. A word for a running job beside `terminal: true` is a
 * contradiction, and none of the two is believed.
 */
export function verdictOf(word: string | undefined, terminal: boolean | undefined): Verdict {
  const end = word === undefined ? undefined : own(endWords, word);
  const phase = word === undefined ? undefined : own(runningWords, word);
  if (terminal === false) return { kind: 'running', phase: phase ?? 'processing' };
  if (end === 'completed') return { kind: 'completed' };
  if (end !== undefined) return { kind: 'ended', as: end, recognised: true };
  if (terminal === true && word !== undefined && phase === undefined)
    return { kind: 'ended', as: 'failed', recognised: false };
  if (terminal === undefined && word !== undefined) return { kind: 'running', phase: phase ?? 'processing' };
  return { kind: 'unclear' };
}

/** The id that a create, status or job document names. Envelope ids of the call itself (`req_…`) do not count. */
export function jobIdOf(document: JsonObject): string | undefined {
  const data = objectOr(document.data);
  const job = objectOr(document.job);
  const dataJob = objectOr(data.job);
  const candidates = [
    document.id,
    document.job_id,
    job.id,
    job.job_id,
    data.job_id,
    dataJob.id,
    dataJob.job_id,
    data.id,
    data.request_id,
  ];
  // Never cut: a part of an id is another id.
  return candidates.find((id): id is string => typeof id === 'string' && id !== '' && !id.startsWith('req_'));
}

/**
 * Looks a field up where the form in use has it. The newer form is known by its own fields; without them a top-level
 * `status` may be the envelope's ("success" of the call), so `data` and `data.job` come first.
 */
function fieldsOf(document: JsonObject): (name: string) => unknown {
  const data = objectOr(document.data);
  const newer = Object.hasOwn(document, 'terminal') || Object.hasOwn(document, 'sume_status');
  const older = [data, objectOr(data.job)];
  const places = newer ? [document, ...older] : [...older, document];
  return (name) => places.find((place) => Object.hasOwn(place, name))?.[name];
}

function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const usage: Usage = {};
  const status = text(value.status);
  if (status !== undefined) usage.status = status;
  const amounts = {
    reservedMicros: 'reserved',
    capturedMicros: 'captured',
    refundedMicros: 'refunded',
    billableMicros: 'billable',
  } as const;
  for (const [field, name] of Object.entries(amounts)) {
    const micros =
      amount(value[`${name}_amount_usd_micros`]) ?? amount(scaled(amount(value[`${name}_amount_usd_cents`]), 10_000));
    if (micros !== undefined) usage[field as keyof typeof amounts] = micros;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;
}

function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
