/* Faults that tests once found in the core. Each stays found. */

import { describe, expect, it } from 'vitest';
import { readWakeConfig } from '../../lib/config.ts';
import { decide } from '../../lib/decide.ts';
import { readCursor, writeCursor } from '../../lib/http/cursor.ts';
import { Problem } from '../../lib/http/problem.ts';
import { readSubmitBody } from '../../lib/http/submit-body.ts';
import { jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import { toItem } from '../../lib/job-store/job-item.ts';
import { retryAfterMs } from '../../lib/providers/retry-after.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { readStatus } from '../../lib/providers/sume-status.ts';
import { completed, confirmedJob, faultOf, hourMs, jobWith, running, startMs, trouble } from '../support/jobs.ts';

const deadlineAtMs = startMs + 24 * hourMs;
const noSlot = { kind: 'no_slot', retryAfterMs: 20_000, fault: faultOf('rate_limit_exceeded') } as const;
const repeatedNoSlot = { ...noSlot, repeated: true } as const;

/** Sume behind a transport that gives one answer. */
const sumeThatSays = (status: number, headers: Record<string, string>, text = '{}') =>
  new Sume(
    { send: async () => ({ kind: 'answer', status, headers, text, tookMs: 1 }) },
    { basePath: '', apiKey: 'k', keyPrefix: '' },
  );

it('T26 a 5xx with an endless Retry-After still has a finite, bounded due time (submitting, overdue)', () => {
  for (const state of ['submitting', 'overdue'] as const) {
    for (const told of [Number.POSITIVE_INFINITY, 1.79e12]) {
      const decision = decide(confirmedJob(state), trouble('http_503', told), deadlineAtMs + 1, 0);
      expect(decision.kind === 'change' && decision.dueAtMs - deadlineAtMs).toBeLessThanOrEqual(1.1 * hourMs);
    }
  }
});

it('a 5xx is not put off by the RateLimit-Reset that every answer carries', async () => {
  const headers = { 'ratelimit-limit': '10000', 'ratelimit-remaining': '9990', 'ratelimit-reset': '43200' };
  expect(await sumeThatSays(502, headers).read(confirmedJob('processing'))).toMatchObject({
    kind: 'trouble',
    retryAfterMs: null,
  });
  const used = { ...headers, 'ratelimit-remaining': '0' };
  expect(await sumeThatSays(429, used).read(confirmedJob('processing'))).toMatchObject({
    kind: 'throttled',
    retryAfterMs: 43_200_000,
  });
});

describe('a create’s answer that comes late, when another drain has already had the job confirmed', () => {
  const queued = confirmedJob('processing', { providerStatus: 'processing' });
  it('no_slot does not take it back to waiting', () => {
    const decision = decide(queued, noSlot, startMs, 0);
    expect(decision.kind === 'keep' ? queued.state : decision.job.state).toBe('processing');
  });
  it('refused does not reject it', () => {
    const decision = decide(queued, { kind: 'refused', fault: faultOf('invalid') }, startMs, 0);
    expect(decision.kind === 'keep' ? queued.state : decision.job.state).toBe('processing');
  });
  it('accepted moves neither its state nor the time it was sent', () => {
    const again = { kind: 'accepted', providerJobId: 'job_sume_1', phase: 'queued', hintMs: 15_000 } as const;
    const decision = decide(queued, again, startMs + 5_000, 0);
    const after: Job = decision.kind === 'keep' ? queued : decision.job;
    expect([after.state, after.submittedAtMs, after.history.length]).toEqual([
      'processing',
      startMs,
      queued.history.length,
    ]);
  });
});

it('a create that may have reached the provider is not "waiting, never sent" again after a 429, so it can not expire unsent', () => {
  const lostReply = decide(jobWith({ state: 'submitting' }), trouble('timeout'), startMs, 0);
  if (lostReply.kind !== 'change') throw new Error(lostReply.kind);
  const full = decide(lostReply.job, repeatedNoSlot, startMs + 30_000, 0);
  expect(full).toMatchObject({ kind: 'change', job: { state: 'submitting' } });
  expect(decide(lostReply.job, repeatedNoSlot, deadlineAtMs, 0)).toMatchObject({
    kind: 'change',
    job: { state: 'submitting' },
  });
});

it('reads of a missing result count in a row also when overdue', () => {
  const awaited = confirmedJob('overdue', { providerStatus: 'completed', resultReads: 4 });
  const decision = decide(awaited, running({ word: 'completed' }), deadlineAtMs + 10, 0);
  expect(decision).toMatchObject({ kind: 'change', job: { resultReads: 0 } });
  const next = decide(decision.kind === 'change' ? decision.job : awaited, completed(null), deadlineAtMs + 20, 0);
  expect(next.kind).toBe('change');
});

it('an overdue job that runs is not read before the provider’s time', () => {
  const nowMs = deadlineAtMs + hourMs - 1_000;
  for (const state of ['overdue', 'processing'] as const) {
    const decision = decide(
      confirmedJob(state, { providerStatus: 'processing' }),
      running({ hintMs: 30_000 }),
      nowMs,
      0,
    );
    expect(decision.kind !== 'end' && decision.dueAtMs - nowMs).toBeGreaterThanOrEqual(30_000);
  }
});

it('an item stays under 400 KB with the largest input and the largest result', async () => {
  const value = { data: { result: { text: '夕'.repeat(199_900) } } };
  const answers = ['{"status":"completed"}', JSON.stringify(value)];
  const sume = new Sume(
    { send: async () => ({ kind: 'answer', status: 200, headers: {}, text: answers.shift() ?? '', tookMs: 1 }) },
    { basePath: '', apiKey: 'k', keyPrefix: '' },
  );
  const outcome = await sume.read(confirmedJob('processing'));
  const decision = decide(confirmedJob('processing'), outcome, startMs, 0);
  if (decision.kind !== 'end') throw new Error(decision.kind);
  const bytes = Buffer.byteLength(JSON.stringify(toItem(decision.job)));
  expect(bytes).toBeLessThan(400_000);
});

it('… and with the largest body beside the largest result that is kept', () => {
  const input = readSubmitBody(JSON.stringify({ input: { model: 'm', prompt: 'p', note: 'x'.repeat(262_000) } })).input;
  const decision = decide(
    confirmedJob('processing', { input }),
    completed({ value: { a: 'x'.repeat(99_000) }, truncated: false }),
    startMs,
    0,
  );
  if (decision.kind !== 'end') throw new Error(decision.kind);
  expect(Buffer.byteLength(JSON.stringify(toItem(decision.job)))).toBeLessThan(400_000);
});

it('T107 a cursor with anything appended or inserted is refused', () => {
  const cursor = writeCursor({ createdAtMs: startMs, id: jobIdFor('a', 'b') }, 'acme', '');
  const longer = Buffer.from(`${Buffer.from(cursor, 'base64url')}.x`).toString('base64url');
  for (const edited of [
    `${cursor}=`,
    `${cursor}!!`,
    ` ${cursor}`,
    `${cursor.slice(0, 9)}\n${cursor.slice(9)}`,
    longer,
  ]) {
    expect(() => readCursor(edited, 'acme', ''), JSON.stringify(edited)).toThrow(Problem);
  }
});

const input = { model: 'm', prompt: 'p' };
it('metadata named __proto__ is refused or kept, not dropped in silence', () => {
  const text = `{"input":${JSON.stringify(input)},"metadata":{"__proto__":"x","a":"b"}}`;
  expect(() => readSubmitBody(text)).toThrow(/metadata\.__proto__/);
});

it('the detail of a refused body is bounded, however long the keys are', () => {
  try {
    readSubmitBody(JSON.stringify({ input, ['k'.repeat(100_000)]: 1 }));
    throw new Error('taken');
  } catch (error) {
    expect((error as Error).message.length).toBeLessThan(600);
  }
});

it('T27 a Retry-After that is neither seconds nor an HTTP date says nothing', () => {
  const date = 'Sun, 06 Nov 1994 08:48:07 GMT';
  expect(['-5', '.5', '1 12', '2099'].map((value) => retryAfterMs({ 'retry-after': value, date }))).toEqual([
    null,
    null,
    null,
    2_099_000,
  ]);
});

it('amounts in cents stay exact or are left out', () => {
  expect(
    readStatus({ status: 'completed', usage: { billable_amount_usd_cents: 9_007_199_254_740_991 } }).usage,
  ).toBeUndefined();
});

it('an empty DRAIN_FUNCTION_NAME counts as absent, like the other optional settings', () => {
  expect(readWakeConfig({ DRAIN_FUNCTION_NAME: '' }).drainFunction).toBe('pollkeeper-dev-drain');
});
