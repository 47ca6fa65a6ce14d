import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resultMax, type Sume } from '../../lib/providers/sume.ts';
import { answer, json, type ScriptedServer } from '../support/scripted-server.ts';
import { completed, envelope, sentJob as job, type ScriptedSume, startScriptedSume } from '../support/scripted-sume.ts';

/* What becomes of the result document that a completed job has, or has not. */

let parts: ScriptedSume;
let server: ScriptedServer;
let sume: Sume;

beforeAll(async () => {
  parts = await startScriptedSume(2_000);
  ({ server, sume } = parts);
});
afterAll(() => parts.close());
beforeEach(() => server.script(answer(500)));

describe('a result', () => {
  test.each([
    ['without an envelope', { id: 'job_theirs', url: 'u' }, { id: 'job_theirs', url: 'u' }],
    [
      'in an envelope',
      { data: { job_id: 'job_theirs', result: { url: 'u' } } },
      { job_id: 'job_theirs', result: { url: 'u' } },
    ],
  ])('%s is kept whole', async (_, body, value) => {
    server.script(completed, json(body));
    expect(await sume.read(job)).toEqual({ kind: 'completed', word: 'completed', result: { value, truncated: false } });
  });

  test.each([
    ['404', json(envelope('no_result', 'none'), 404)],
    ['404 without an envelope', answer(404)],
    ['409', answer(409)],
    ['425', answer(425)],
    ['204', answer(204)],
    ['an empty object', json({})],
    ['an empty envelope', json({ data: {} })],
    ['an envelope of nothing', json({ data: null })],
    ['a result of null', json({ id: 'job_theirs', result: null })],
  ])('%s: completed, and no result to keep', async (_, reply) => {
    server.script(completed, reply);
    expect(await sume.read(job)).toEqual({ kind: 'completed', word: 'completed', result: null });
  });

  test('that is too long for the record is left out and marked', async () => {
    const long = 'x'.repeat(resultMax);
    for (const reply of [json({ url: long }), json({ data: { url: long } }), json({ url: long.repeat(6) })]) {
      server.script(completed, reply);
      expect(await sume.read(job)).toMatchObject({ kind: 'completed', result: { value: null, truncated: true } });
    }
  });

  test('that cannot be had now leaves the job as it was', async () => {
    server.script(completed, answer(502, '<html>'));
    expect(await sume.read(job)).toMatchObject({ kind: 'trouble', fault: { code: 'http_502' } });
  });
});
