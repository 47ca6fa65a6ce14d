import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decide } from '../../lib/decide.ts';
import { isActive, type Job, type JobState } from '../../lib/job.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Outcome } from '../../lib/outcome.ts';
import { endsAllowed } from '../support/fuzz-drain.ts';
import { confirmedJob, hourMs, outcomeKinds } from '../support/jobs.ts';
import { answer } from '../support/scripted-server.ts';
import { apiKey, sentJob as job, type ScriptedSume, startScriptedSume } from '../support/scripted-sume.ts';

/* Thousands of answers of any bytes, headers and statuses, most of them close to what the provider would say. */

let parts: ScriptedSume;

beforeAll(async () => {
  parts = await startScriptedSume(400);
});
afterAll(() => parts.close());

const successWords = ['completed', 'complete', 'success', 'succeeded'];
const endWords: Record<string, string[]> = {
  failed: ['failed', 'error', 'errored'],
  canceled: ['canceled', 'cancelled', 'aborted'],
  expired: ['expired'],
};
const ends = [...successWords, ...Object.values(endWords).flat()];

const status = fc.oneof(
  { weight: 3, arbitrary: fc.constant(200) },
  { weight: 3, arbitrary: fc.constantFrom(201, 204, 400, 401, 402, 404, 409, 422, 429, 500, 503) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 999 }) },
);
const id = fc.constantFrom('job_theirs', 'job_theirs', 'job_other', 'req_1', '', 'job_theirs ', '../x');
const word = fc.oneof(
  fc.constantFrom(...ends, 'queued', 'processing', ' Completed', 'FAILED', 'incomplete', 'ended'),
  fc.constantFrom('job_theirs', `x ${apiKey}\n\u0000`, 'constructor'),
  fc.string(),
);
const field = fc.constantFrom(
  ...['id', 'job_id', 'status', 'sume_status', 'terminal', 'data', 'job', 'error', 'message', 'request_id'],
  ...['usage', 'result', 'next_poll_after_seconds', '__proto__'],
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.boolean(),
    fc.double(),
    fc.constant(null),
    tie('list'),
    tie('object'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(field, tie('value'), { maxKeys: 6 }),
}));
const fields = {
  id,
  job_id: id,
  status: word,
  sume_status: word,
  terminal: fc.constantFrom(true, false, null, 'true'),
};
const inside = fc.record({ ...fields, job: fc.record(fields, { requiredKeys: [] }) }, { requiredKeys: [] });
const error = fc.record({ code: fc.constantFrom('job_not_found', 'invalid_model'), message: word });
const statusDocument = fc.record({ ...fields, error, data: fc.oneof(inside, value) }, { requiredKeys: [] });
const resultDocument = fc.record({ id, result: value, data: fc.oneof(value, inside) }, { requiredKeys: [] });
const plain = fc
  .oneof(
    fc.record({ id: fc.constant('job_theirs'), status: fc.constantFrom(...ends) }),
    fc.record({ error, request_id: fc.constant('req_1') }),
    statusDocument,
    resultDocument,
    value,
  )
  .map((document) => JSON.stringify(document) ?? '');
const body = fc.oneof(
  { weight: 4, arbitrary: plain.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  // Cut off at any byte; inside a page; in another encoding; twice; after a byte order mark.
  { weight: 1, arbitrary: fc.tuple(plain, fc.nat(200)).map(([text, end]) => Buffer.from(text).subarray(0, end)) },
  { weight: 1, arbitrary: plain.map((text) => Buffer.from(`<!doctype html><p>completed</p><pre>${text}</pre>`)) },
  { weight: 1, arbitrary: plain.map((text) => Buffer.from(text, 'utf16le')) },
  { weight: 1, arbitrary: plain.map((text) => Buffer.from(text + text)) },
  { weight: 1, arbitrary: plain.map((text) => Buffer.from(`\ufeff${text}`)) },
);
const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'content-encoding',
    'retry-after',
    'date',
    'ratelimit-reset',
    'constructor',
    '__proto__',
  ),
  fc.oneof(
    fc.constantFrom('gzip', 'deflate', 'br', '5', '-5', 'Wed, 21 Oct 2026 07:28:00 GMT'),
    fc.stringMatching(/^[ -~]{0,20}$/),
  ),
  { maxKeys: 2 },
);
const reply = fc.tuple(status, body, headers);
type Reply = [number, Buffer, Record<string, string>];

async function ask(first: Reply, second: Reply, create: boolean): Promise<Outcome> {
  const { server, sume } = parts;
  server.script(answer(...first), answer(...second));
  return create ? await sume.create(job) : await sume.read(job);
}

test('is an outcome: never a throw, one bounded line of a fault, a wait that is a number or unknown', async () => {
  await fc.assert(
    fc.asyncProperty(reply, reply, fc.boolean(), async (first, second, create) => {
      const outcome = await ask(first, second, create);
      expect(outcomeKinds).toContain(outcome.kind);
      if ('fault' in outcome && outcome.fault !== undefined && outcome.fault.code !== 'unrecognised_end') {
        expect(outcome.fault.message).toMatch(/^[^\p{Cc}]{0,500}$/u);
        expect(JSON.stringify(outcome.fault)).not.toContain(apiKey);
      }
      if ('retryAfterMs' in outcome) expect(outcome.retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
      if ('hintMs' in outcome) expect(outcome.hintMs ?? 0).toBeGreaterThanOrEqual(0);
      if (outcome.kind === 'accepted') expect(outcome.providerJobId).toMatch(/^[\w.~-]{1,200}$/);
      if (outcome.kind === 'completed') expect(() => JSON.stringify(outcome.result)).not.toThrow();
    }),
    { numRuns: 3_000 },
  );
});

/* What the bytes say, judged without the code under test, and never too strictly: what an end needs at the very least. */

function documentOf([, bytes]: Reply): JsonObject | null {
  try {
    const document: unknown = JSON.parse(bytes.toString());
    return isObject(document) ? document : null;
  } catch {
    return null;
  }
}

function placesOf(document: JsonObject | null): JsonObject[] {
  const data = isObject(document?.data) ? document.data : null;
  return [document, data, data?.job, document?.job].filter(isObject);
}

/** What stands where docs/sume.md says that an id stands. */
function namesOf(document: JsonObject | null): unknown[] {
  const [top, data] = [document ?? {}, isObject(document?.data) ? document.data : {}];
  const jobs = [top.job, data.job].flatMap((one) => (isObject(one) ? [one.id, one.job_id] : []));
  const names = [top.id, top.job_id, data.id, data.job_id, data.request_id, ...jobs];
  return names.filter((name) => typeof name === 'string' && name !== '' && !name.startsWith('req_'));
}

function wordsOf(document: JsonObject | null): string[] {
  const told = placesOf(document).flatMap((place) => [place.sume_status, place.status]);
  return told.flatMap((one) => (typeof one === 'string' ? one.trim().toLowerCase() : []));
}

const isAboutIt = (document: JsonObject | null) => {
  const names = namesOf(document);
  return names.length === 0 || names.includes('job_theirs');
};

/** The ends that a read's bytes could tell. */
function toldByRead(told: Reply, result: Reply | undefined): JobState[] {
  const document = documentOf(told);
  if (told[0] === 404 && isObject(document?.error)) return ['lost'];
  if (told[0] !== 200 || document === null || !isAboutIt(document)) return [];
  const words = wordsOf(document);
  const says = (group: string[]) => group.some((one) => words.includes(one));
  const ended = Object.keys(endWords).filter((state) => says(endWords[state] ?? [])) as JobState[];
  if (placesOf(document).some((place) => place.terminal === true)) ended.push('failed');
  if (result === undefined || !says(successWords)) return ended;
  if (result[0] === 404 && isObject(documentOf(result)?.error)) ended.push('lost');
  const gone = [204, 404, 409, 425].includes(result[0]);
  const holds = result[0] === 200 && Object.keys(documentOf(result) ?? {}).length > 0;
  return [
    ...ended,
    ...(gone || result[0] === 200 ? ['failed' as const] : []),
    ...(holds ? ['completed' as const] : []),
  ];
}

function toldByCreate(told: Reply): JobState[] {
  const ofJob = told[0] >= 400 && told[0] < 500 && ![401, 402, 403, 408, 409, 425, 429].includes(told[0]);
  return ofJob && isObject(documentOf(told)?.error) ? ['rejected'] : [];
}

/** The last answer that was given on this path. */
function givenTo(path: RegExp, replies: Reply[]): Reply | undefined {
  const at = parts.server.received.findLastIndex((request) => path.test(request.path));
  return at < 0 ? undefined : replies[Math.min(at, replies.length - 1)];
}

const unconfirmed: JobState[] = ['waiting', 'submitting'];
const confirmed: JobState[] = ['queued', 'processing', 'overdue'];
const nowMs = confirmedJob('queued').deadlineAtMs - hourMs;
/** So close to an end as a record can be. */
const worn: Partial<Job> = { failuresInRow: 99, missingReads: 99, missingSinceMs: nowMs - 24 * hourMs, resultReads: 4 };

test('ends a job only when its bytes say so: no page, cut body, other job’s answer or nonsense does', async () => {
  const seen = new Set<JobState>();
  await fc.assert(
    fc.asyncProperty(reply, reply, fc.boolean(), async (first, second, create) => {
      const outcome = await ask(first, second, create);
      const replies = [first, second];
      const asked = givenTo(create ? /videos$/ : /status$/, replies) ?? first;
      const told = create ? toldByCreate(asked) : toldByRead(asked, givenTo(/result$/, replies));
      for (const state of create ? unconfirmed : confirmed) {
        for (const record of [{}, worn]) {
          const before = confirmedJob(state, record);
          const decision = decide(before, outcome, nowMs, 0.5);
          const after = decision.kind === 'keep' ? before : decision.job;
          if (isActive(after.state)) continue;
          seen.add(after.state);
          expect(told, `${state} → ${after.state}`).toContain(after.state);
          expect(endsAllowed(before, outcome, nowMs)).toContain(after.state);
          // Neither a missing job nor a missing result is believed the first time.
          if (after.state === 'lost') expect(record).toBe(worn);
          if (after.state === 'completed') expect(after.result?.value ?? after.result?.truncated).toBeTruthy();
        }
      }
    }),
    { numRuns: 4_000 },
  );
  expect([...seen].sort()).toEqual(['canceled', 'completed', 'expired', 'failed', 'lost', 'rejected']);
});
