import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer } from '../support/scripted-server.ts';
import { apiKey, sentJob as job, type ScriptedSume, startScriptedSume } from '../support/scripted-sume.ts';

/* A thousand answers of any bytes, headers and statuses, half of them close to what the provider would say. */

let parts: ScriptedSume;

beforeAll(async () => {
  parts = await startScriptedSume(400);
});
afterAll(() => parts.close());

describe('any answer whatever', () => {
  const kinds = [
    'accepted',
    'refused',
    'no_slot',
    'running',
    'completed',
    'ended',
    'missing',
    'throttled',
    'denied',
    'trouble',
  ];
  const status = fc.oneof(
    fc.constantFrom(200, 201, 204, 400, 401, 402, 404, 409, 429, 500, 503),
    fc.integer({ min: 200, max: 999 }),
  );
  const word = fc.oneof(
    fc.constantFrom('job_theirs', 'job_other', 'completed', 'failed', 'queued', `x ${apiKey}\n\u0000`),
    fc.string(),
  );
  const field = fc.constantFrom(
    'id',
    'job_id',
    'status',
    'sume_status',
    'terminal',
    'data',
    'job',
    'error',
    'message',
    'request_id',
    'usage',
    'result',
    'next_poll_after_seconds',
    '__proto__',
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
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    value.map((json) => Buffer.from(JSON.stringify(json) ?? '')),
    fc
      .record({ id: fc.constant('job_theirs'), status: fc.constant('completed'), result: value })
      .map((json) => Buffer.from(JSON.stringify(json))),
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
  );

  test('is an outcome: never a throw, one bounded line of a fault, a wait that is a number or unknown', async () => {
    const reply = fc.tuple(status, body, headers);
    await fc.assert(
      fc.asyncProperty(reply, reply, fc.boolean(), async (first, second, create) => {
        const { server, sume } = parts;
        server.script(answer(...first), answer(...second));
        const outcome = create ? await sume.create(job) : await sume.read(job);
        expect(kinds).toContain(outcome.kind);
        if ('fault' in outcome && outcome.fault !== undefined && outcome.fault.code !== 'unrecognised_end') {
          expect(outcome.fault.message).toMatch(/^[^\p{Cc}]{0,500}$/u);
          expect(JSON.stringify(outcome.fault)).not.toContain(apiKey);
        }
        if ('retryAfterMs' in outcome) expect(outcome.retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
        if ('hintMs' in outcome) expect(outcome.hintMs ?? 0).toBeGreaterThanOrEqual(0);
        if (outcome.kind === 'accepted') expect(outcome.providerJobId).toMatch(/^[\w.~-]{1,200}$/);
        if (outcome.kind === 'completed') expect(() => JSON.stringify(outcome.result)).not.toThrow();
      }),
      { numRuns: 1_000 },
    );
  });
});
