import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { jobIdOf, readStatus, verdictOf } from '../../lib/providers/sume-status.ts';

/** A status document from JSON text, so that keys such as __proto__ and repeated keys are as the network brings them. */
const read = (text: string) => readStatus(JSON.parse(text) as JsonObject);

const successWords = ['completed', 'complete', 'success', 'succeeded'];
const ends = {
  completed: { kind: 'completed' },
  failed: { kind: 'ended', as: 'failed', recognised: true },
  canceled: { kind: 'ended', as: 'canceled', recognised: true },
  expired: { kind: 'ended', as: 'expired', recognised: true },
} as const;

describe('the status word, with terminal absent', () => {
  it.each([
    ['completed', ends.completed],
    ['complete', ends.completed],
    ['success', ends.completed],
    ['succeeded', ends.completed],
    ['failed', ends.failed],
    ['error', ends.failed],
    ['errored', ends.failed],
    ['canceled', ends.canceled],
    ['cancelled', ends.canceled],
    ['aborted', ends.canceled],
    ['expired', ends.expired],
    ['queued', { kind: 'running', phase: 'queued' }],
    ['pending', { kind: 'running', phase: 'queued' }],
    ['running', { kind: 'running', phase: 'processing' }],
    ['processing', { kind: 'running', phase: 'processing' }],
    ['warming_up', { kind: 'running', phase: 'processing' }],
  ])('T40 %s decides, in any case and with blanks around it', (word, verdict) => {
    for (const spelt of [word, word.toUpperCase(), ` ${word}\n`, `\t${word[0]?.toUpperCase()}${word.slice(1)} `]) {
      expect(read(JSON.stringify({ sume_status: spelt })).verdict).toEqual(verdict);
      expect(read(JSON.stringify({ data: { status: spelt } })).verdict).toEqual(verdict);
    }
  });

  it('is kept as it was, without the blanks and at most 200 characters of it', () => {
    expect(read('{"sume_status":" COMPLETED "}').word).toBe('COMPLETED');
    expect(read(JSON.stringify({ status: 'x'.repeat(5_000) })).word).toHaveLength(200);
  });
});

describe('the two forms of a status document', () => {
  it('say the same: fields at the top level, or inside data with the job’s own in data.job', () => {
    const flat = `{"id":"job_1","status":"processing","sume_status":"processing","terminal":false,
      "next_poll_after_seconds":15,"usage":{"status":"reserved","reserved_amount_usd_micros":1512000}}`;
    const nested = `{"request_id":"req_1","data":{"request_id":"job_1","status":"PROCESSING","sume_status":"processing",
      "terminal":false,"result_ready":false,"next_action":"poll","next_poll_after_seconds":15,
      "usage":{"status":"reserved","currency":"usd","reserved_amount_usd_micros":1512000},
      "job":{"id":"job_1","type":"video","status":"PROCESSING"}}}`;
    const expected = {
      jobId: 'job_1',
      word: 'processing',
      verdict: { kind: 'running', phase: 'processing' },
      hintMs: 15_000,
      usage: { status: 'reserved', reservedMicros: 1_512_000 },
    };
    expect(read(flat)).toEqual(expected);
    expect(read(nested)).toEqual(expected);
  });

  it('may leave everything but the word to data.job', () => {
    expect(read('{"data":{"job":{"id":"job_2","status":"CANCELED"}}}')).toEqual({
      jobId: 'job_2',
      word: 'CANCELED',
      verdict: ends.canceled,
      hintMs: null,
    });
  });

  it('name the job, never the call: an id of the envelope does not count', () => {
    expect(jobIdOf({ id: 'req_1', data: { request_id: 'req_2' } })).toBeUndefined();
    expect(jobIdOf({ id: 'req_1', data: { request_id: 'job_3' } })).toBe('job_3');
    expect(jobIdOf({ request_id: 'job_4' })).toBeUndefined();
    expect(jobIdOf({ job: { id: 'job_5' }, data: { id: 'job_6' } })).toBe('job_5');
    expect(jobIdOf({ job: { job_id: 'job_9' }, data: { id: 'job_6' } })).toBe('job_9');
    expect(jobIdOf({ data: { job: { job_id: 'job_10' }, id: 'job_6' } })).toBe('job_10');
    expect(jobIdOf({ id: 12_345, job_id: ['job_7'], data: 'job_8', job: null })).toBeUndefined();
  });

  it('carry money in micro-dollars, or cents, and amounts that are none are left out', () => {
    const usage = (text: string) => read(`{"status":"completed","usage":${text}}`).usage;
    expect(usage('{"status":"captured","captured_amount_usd_cents":151,"refunded_amount_usd_micros":0}')).toEqual({
      status: 'captured',
      capturedMicros: 1_510_000,
      refundedMicros: 0,
    });
    expect(usage('{"billable_amount_usd_micros":5,"billable_amount_usd_cents":9}')).toEqual({ billableMicros: 5 });
    const amounts = ['-1', '1.5', '"7"', 'null', '1e400', '12345678901234567890', '{}', '[1]', 'true'];
    for (const amount of amounts) expect(usage(`{"reserved_amount_usd_micros":${amount}}`)).toBeUndefined();
    for (const value of ['null', '[]', '"x"', '{}', '7']) expect(usage(value)).toBeUndefined();
  });
});

describe('a contradiction', () => {
  it('between terminal and a running word is believed on neither side', () => {
    for (const word of ['queued', 'pending', 'running', 'processing']) {
      expect(verdictOf(word, true)).toEqual({ kind: 'unclear' });
    }
  });

  it('between terminal: false and an end word is a job that still runs: terminal says when to stop', () => {
    for (const word of [...successWords, 'failed', 'expired', 'cancelled']) {
      expect(verdictOf(word, false)).toEqual({ kind: 'running', phase: 'processing' });
    }
  });

  it('is none where a word is unknown: with terminal: true the job ended, never as a success', () => {
    for (const word of ['mystery', 'constructor', '__proto__', 'toString', 'completed!', 'not completed']) {
      expect(verdictOf(word, true)).toEqual({ kind: 'ended', as: 'failed', recognised: false });
      expect(verdictOf(word, undefined)).toEqual({ kind: 'running', phase: 'processing' });
    }
  });

  it('is a document that says nothing at all', () => {
    for (const text of ['{}', '{"data":{}}', '{"status":""}', '{"status":" "}', '{"status":7,"terminal":"true"}']) {
      expect(read(text).verdict).toEqual({ kind: 'unclear' });
    }
  });
});

describe('a hostile status document', () => {
  it('T56 changes no prototype and is read by its own known fields alone', () => {
    const text = `{"__proto__":{"status":"completed","terminal":true},"constructor":{"prototype":{"status":"completed"}},
      "id":12345678901234567890,"data":{"__proto__":{"terminal":true,"sume_status":"completed"}},"extra":[{"a":1}]}`;
    expect(read(text)).toEqual({ verdict: { kind: 'unclear' }, hintMs: null });
    expect(({} as Record<string, unknown>).status).toBeUndefined();
  });

  it('T56 with a key given twice counts as the last of them', () => {
    expect(read('{"status":"completed","status":"processing"}').verdict).toEqual({
      kind: 'running',
      phase: 'processing',
    });
  });

  it('T56 of any shape never throws, and is a success only where a documented word says so', () => {
    const word = fc.constantFrom('completed', ' SUCCESS ', 'failed', 'queued', 'done', '__proto__', 'constructor');
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), word, fc.boolean(), fc.constant(Number.MAX_VALUE));
    const names = [
      'id',
      'job_id',
      'status',
      'sume_status',
      'terminal',
      'next_poll_after_seconds',
      'usage',
      '__proto__',
    ];
    const members = (inner: fc.Arbitrary<unknown>) =>
      fc.array(fc.tuple(fc.constantFrom(...names, 'data', 'job', 'request_id', 'x'), inner), { maxLength: 6 });
    /** Built by own properties, so that __proto__ is one too. */
    const object = (entries: [string, unknown][]) => Object.fromEntries(entries);
    const job = members(value).map(object);
    const data = members(fc.oneof(value, job)).map(object);
    const documents = members(fc.oneof(value, job, data)).map(object) as fc.Arbitrary<JsonObject>;
    let successes = 0;
    fc.assert(
      fc.property(documents, (document) => {
        const status = readStatus(document);
        expect(status.hintMs === null || Number.isInteger(status.hintMs)).toBe(true);
        expect(typeof status.jobId === 'string' || status.jobId === undefined).toBe(true);
        if (status.verdict.kind !== 'completed') return;
        successes++;
        expect(successWords).toContain(status.word?.toLowerCase());
        expect(JSON.stringify(document)).toContain(status.word);
      }),
      { numRuns: 5_000 },
    );
    expect(successes).toBeGreaterThan(10);
  });
});
