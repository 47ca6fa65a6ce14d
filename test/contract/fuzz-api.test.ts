import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDocument } from '../fuzz-api/document.ts';
import { fuzz } from '../fuzz-api/fuzz.ts';
import { type Stage, startStage } from '../fuzz-api/stage.ts';

/* A few hundred requests of the fuzzer, always the same; `npm run fuzz-api` sends as many as one likes. */

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage.close());

it('the API answers whatever comes as its document says, and what it refuses writes nothing (T105, T107, T109)', async () => {
  const figures = await fuzz(stage, readDocument(), { requests: 400, seed: 1, progress: () => {} });
  expect(figures.faults).toEqual([]);
  expect(figures).toMatchObject({ requests: 400, ok: true });
  // It is no use when nothing gets through: most routes were answered well, and every way of refusing was seen.
  expect(figures.unreached.length).toBeLessThan(10);
  expect(Object.keys(figures.byStatus)).toEqual(
    expect.arrayContaining(['200', '202', '400', '401', '403', '404', '405']),
  );
});

it('a write by what was refused would be noticed: the stores are really listened to', async () => {
  await stage.writes();
  const headers = { authorization: `Bearer ${stage.secrets[0]}`, 'idempotency-key': 'watched' };
  const body = { text: JSON.stringify({ input: { model: 'm', prompt: 'p' } }), isBase64Encoded: false };
  const answer = await stage.answer({
    id: 'r',
    method: 'POST',
    rawPath: '/v1/jobs',
    rawQueryString: '',
    headers,
    body,
  });
  expect(answer.statusCode).toBe(202);
  expect(await stage.writes()).toEqual(expect.arrayContaining(['PutItem', expect.stringMatching(/^zadd .*waiting/)]));
  expect(await stage.writes()).toEqual([]);
});
