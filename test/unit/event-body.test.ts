import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchIdFor, jobIdFor } from '../../lib/identify.ts';
import { enter } from '../../lib/job.ts';
import { bodyMax } from '../../lib/webhooks/delivery.ts';
import { batchEventBody, jobEventBody } from '../../lib/webhooks/event-body.ts';
import { jobWith, startMs } from '../support/jobs.ts';

const event = { type: 'job.completed' as const, atMs: startMs + 5 };
const done = (given: Parameters<typeof jobWith>[0] = {}) => enter(jobWith(given), 'completed', startMs + 5);
const read = (body: string) => JSON.parse(body) as { type: string; timestamp: string; data: Record<string, unknown> };

describe('the body of a job’s event', () => {
  test('has type, time and the job as the API shows it', () => {
    const job = done({ result: { value: { video_url: 'https://media.example/1.mp4' }, truncated: false } });
    const { type, timestamp, data } = read(jobEventBody(job, event));
    expect([type, timestamp]).toEqual(['job.completed', new Date(startMs + 5).toISOString()]);
    expect(data).toMatchObject({
      ...{ id: job.id, state: 'completed', input: job.input, metadata: { scene: '12' } },
      ...{ result: { video_url: 'https://media.example/1.mp4' }, result_truncated: false },
      links: { self: `/v1/jobs/${job.id}` },
    });
  });

  test('says the state of the event, though the job has moved on', () => {
    expect(read(jobEventBody(done(), { type: 'job.overdue', atMs: startMs })).data.state).toBe('overdue');
  });

  test('leaves out a result that does not fit, then the input, and leads to both', () => {
    const long = 'x'.repeat(bodyMax);
    const result = { value: { text: long }, truncated: false };
    const without = read(jobEventBody(done({ result }), event)).data;
    expect(without).toMatchObject({ result: null, result_truncated: true, input: { model: 'seedance-2-mini' } });
    const less = read(jobEventBody(done({ result, input: { prompt: long } }), event)).data;
    expect(less).toMatchObject({ result: null, result_truncated: true, input: null, metadata: { scene: '12' } });
    const alone = read(jobEventBody(done({ input: { prompt: long } }), event)).data;
    expect(alone).toMatchObject({ result: null, result_truncated: false, input: null });
    expect(less.links).toEqual({ self: `/v1/jobs/${done().id}`, list: '/v1/jobs' });
  });

  test('T97 is never too large and always whole JSON, whatever is in it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('\u0001'.repeat(512), '"'.repeat(512), '0.1', '🎬\u2028\u001b'.repeat(100)),
    );
    const large = fc.oneof(text, fc.constantFrom('🎬\u2028'.repeat(4_000), '\u0001'.repeat(5_000)));
    const metadata = fc.dictionary(fc.string({ minLength: 1, maxLength: 64 }), text, { maxKeys: 20 });
    const anyJob = fc.record({ prompt: large, value: large, metadata, reason: text });
    fc.assert(
      fc.property(anyJob, ({ prompt, value, metadata: entries, reason }) => {
        const given = { input: { prompt }, metadata: entries, result: { value: { value }, truncated: false } };
        const history = Array.from({ length: 50 }, () => ({ atMs: startMs, state: 'queued' as const, reason }));
        const body = jobEventBody({ ...done(given), history }, event);
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(bodyMax);
        const { state, links } = read(body).data;
        expect([state, links]).toEqual(['completed', { self: `/v1/jobs/${done().id}`, list: '/v1/jobs' }]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the body of a batch’s event', () => {
  const batch = {
    ...{ id: batchIdFor('acme', 'night'), owner: 'acme', name: 'night', createdAtMs: startMs, touchedAtMs: startMs },
    ...{ completedAtMs: startMs + 9, counts: { completed: 2, failed: 1 }, revision: 3 },
  };
  const ids = (count: number) => Array.from({ length: count }, (_, n) => jobIdFor('acme', `key-${n}`));

  test('has counts and ids', () => {
    expect(read(batchEventBody(batch, ids(3)))).toEqual({
      type: 'batch.completed',
      timestamp: new Date(startMs + 9).toISOString(),
      data: {
        ...{ id: batch.id, name: 'night', state: 'completed', jobs: 3, counts: { completed: 2, failed: 1 } },
        ...{ created_at: new Date(startMs).toISOString(), completed_at: new Date(startMs + 9).toISOString() },
        links: { self: '/v1/batches/night', jobs: '/v1/jobs?batch=night' },
        ...{ job_ids: ids(3), job_ids_truncated: false },
      },
    });
  });

  test('has all ids or none, never more bytes than it may', () => {
    for (const count of [480, 500, 520, 10_000]) {
      const body = batchEventBody(batch, ids(count));
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(bodyMax);
      const { job_ids, job_ids_truncated } = read(body).data;
      expect(job_ids_truncated ? job_ids : (job_ids as string[]).length).toBe(job_ids_truncated ? null : count);
    }
    expect(read(batchEventBody(batch, ids(480))).data.job_ids).toHaveLength(480);
  });
});
