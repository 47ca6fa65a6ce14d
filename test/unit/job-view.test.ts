import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { jobSummary, jobView } from '../../lib/http/job-view.ts';
import { answerProblem, Problem } from '../../lib/http/problem.ts';
import { confirmedJob, faultOf, jobWith, someResult, startMs } from '../support/jobs.ts';

const startedAt = '2026-09-21T14:13:20.000Z';

describe('a job as the API shows it', () => {
  it('has every field from the start, null where there is nothing yet', () => {
    const job = jobWith();
    expect(jobView(job)).toEqual({
      id: job.id,
      state: 'waiting',
      account: 'sume',
      priority: 5,
      batch: null,
      metadata: { scene: '12' },
      created_at: startedAt,
      updated_at: startedAt,
      submitted_at: null,
      finished_at: null,
      deadline_at: '2026-09-22T14:13:20.000Z',
      cancel_requested_at: null,
      provider: { name: 'sume', job_id: null, status: null },
      error: null,
      usage: null,
      cost: { estimated_usd_micros: null, billed_usd_micros: null },
      links: { self: `/v1/jobs/${job.id}`, list: '/v1/jobs' },
      webhook: null,
      events: [],
      input: job.input,
      result: null,
      result_truncated: false,
      history: [{ at: startedAt, state: 'waiting', reason: null }],
    });
  });

  it('has the result, the price and the history of a completed one, and no longer its faults', () => {
    const job = confirmedJob('completed', {
      finishedAtMs: startMs + 1.75,
      providerStatus: 'COMPLETED',
      result: someResult,
      usage: { status: 'captured', capturedMicros: 1_512_000 },
      lastFault: { ...faultOf('http_502'), atMs: startMs },
    });
    expect(jobView(job)).toMatchObject({
      finished_at: '2026-09-21T14:13:20.001Z',
      provider: { name: 'sume', job_id: 'job_sume_1', status: 'COMPLETED' },
      result: { video_url: 'https://media.example/clip.mp4' },
      error: null,
      usage: {
        status: 'captured',
        reserved_usd_micros: null,
        captured_usd_micros: 1_512_000,
        refunded_usd_micros: null,
        billable_usd_micros: null,
      },
    });
    const truncated = jobView({ ...job, result: { value: null, truncated: true } });
    expect([truncated.result, truncated.result_truncated]).toEqual([null, true]);
  });

  it('has what it is estimated at, and what was billed once that is known, in lists too', () => {
    const given = { estimatedMicros: 1_512_000, priority: 9 };
    const reserved = { status: 'reserved', reservedMicros: 1_512_000, capturedMicros: 0 };
    const costOf = (job: ReturnType<typeof jobWith>) => jobSummary(job).cost;
    expect(jobSummary(jobWith(given)).priority).toBe(9);
    expect(costOf(confirmedJob('processing', { ...given, usage: reserved }))).toEqual({
      estimated_usd_micros: 1_512_000,
      billed_usd_micros: null,
    });
    expect(costOf(confirmedJob('completed', { ...given, usage: { capturedMicros: 1_500_000 } }))).toEqual({
      estimated_usd_micros: 1_512_000,
      billed_usd_micros: 1_500_000,
    });
    expect(costOf(confirmedJob('failed', { usage: { status: 'refunded' } })).billed_usd_micros).toBe(0);
  });

  it('T46 has the last fault with its code and the provider’s request id', () => {
    const lastFault = { ...faultOf('insufficient_credits'), providerRequestId: 'req_77', atMs: startMs };
    expect(jobView(jobWith({ lastFault, failuresInRow: 3 })).error).toEqual({
      code: 'insufficient_credits',
      message: 'It was insufficient_credits.',
      provider_request_id: 'req_77',
      at: startedAt,
      failures_in_row: 3,
    });
    expect(jobView(jobWith({ lastFault: { ...faultOf('timeout'), atMs: startMs } })).error?.provider_request_id).toBe(
      null,
    );
  });

  it('has nothing that is ours alone, and in a list nothing that may be large', () => {
    const inner = ['owner', 'fingerprint', 'revision', 'missing', 'resultReads'];
    const text = JSON.stringify(jobView(confirmedJob('processing', { owner: 'owner-acme' })));
    expect(inner.filter((word) => text.includes(word))).toEqual([]);
    const large = ['input', 'result', 'result_truncated', 'history'];
    expect(Object.keys(jobSummary(jobWith())).filter((key) => large.includes(key))).toEqual([]);
  });
});

describe('an error as the API shows it', () => {
  async function answered(problem: Problem): Promise<Response> {
    const app = new Hono();
    app.get('/', (context) => answerProblem(context, problem));
    return app.request('/');
  }

  it('is a problem document with a stable code and the field that is wrong', async () => {
    const response = await answered(
      new Problem(422, 'key_reused', 'Use a new key.', 'Idempotency-Key', { job_id: 'j' }),
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([422, 'application/problem+json']);
    expect(await response.json()).toEqual({
      type: 'urn:pollkeeper:problem:key_reused',
      title: 'Unprocessable content',
      status: 422,
      detail: 'Use a new key.',
      code: 'key_reused',
      field: 'Idempotency-Key',
      job_id: 'j',
    });
  });

  it('says how to sign in with a 401, and when to come back with a 503', async () => {
    const unknown = await answered(new Problem(401, 'token_invalid', 'Send a token.'));
    expect(unknown.headers.get('www-authenticate')).toBe('Bearer realm="pollkeeper"');
    expect(Object.keys((await unknown.json()) as object)).not.toContain('field');
    expect((await answered(new Problem(503, 'record_unavailable', 'Later.'))).headers.get('retry-after')).toBe('5');
  });
});
