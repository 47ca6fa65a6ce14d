import fc from 'fast-check';
import { fingerprintOf, jobIdFor } from '../../lib/identify.ts';
import { acceptedJob, type Fault, type Job, type JobResult, type JobState } from '../../lib/job.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Outcome } from '../../lib/outcome.ts';

/* Jobs and outcomes for tests: values with sensible fields, and fast-check arbitraries of everything a provider may say. */

/** When the jobs of these tests were accepted, ms since 1970. */
export const startMs = 1_790_000_000_000;
export const secondMs = 1_000;
export const minuteMs = 60_000;
export const hourMs = 3_600_000;

const input: JsonObject = { model: 'seedance-2-mini', prompt: 'A lighthouse at dusk', duration: 8, resolution: '720p' };

/** A job just accepted at `startMs` with a day until its deadline; `given` overrides any field. */
export function jobWith(given: Partial<Job> = {}): Job {
  const accepted = acceptedJob(
    {
      id: jobIdFor('acme', 'key-1'),
      owner: 'acme',
      account: 'sume',
      input,
      fingerprint: fingerprintOf({ input }),
      metadata: { scene: '12' },
      deadlineAtMs: startMs + 24 * hourMs,
    },
    startMs,
  );
  return { ...accepted, ...given };
}

/** A job that the provider has confirmed, in one of the states that follow. */
export function confirmedJob(state: JobState, given: Partial<Job> = {}): Job {
  const history: Job['history'] = [
    { atMs: startMs, state: 'waiting' },
    { atMs: startMs, state: 'submitting' },
    { atMs: startMs, state },
  ];
  return jobWith({ state, providerJobId: 'job_sume_1', submittedAtMs: startMs, history, ...given });
}

export function faultOf(code: string): Fault {
  return { code, message: `It was ${code}.` };
}

export const someResult: JobResult = { value: { video_url: 'https://media.example/clip.mp4' }, truncated: false };

/** All kinds there are: the compiler sees to it. */
export const outcomeKinds = Object.keys({
  accepted: 0,
  refused: 0,
  no_slot: 0,
  running: 0,
  completed: 0,
  ended: 0,
  missing: 0,
  throttled: 0,
  denied: 0,
  trouble: 0,
} satisfies Record<Outcome['kind'], 0>);

/** An outcome of each kind, with the fields that a test does not care for. */
export const running = (given: Partial<Extract<Outcome, { kind: 'running' }>> = {}): Outcome => ({
  kind: 'running',
  phase: 'processing',
  word: 'processing',
  hintMs: 15_000,
  ...given,
});
export const completed = (result: JobResult | null = someResult): Outcome => ({
  kind: 'completed',
  word: 'completed',
  result,
});
export const trouble = (code = 'timeout', retryAfterMs: number | null = null): Outcome => ({
  kind: 'trouble',
  fault: faultOf(code),
  retryAfterMs,
});
export const missing = (): Outcome => ({ kind: 'missing', fault: faultOf('job_not_found') });
export const throttled = (retryAfterMs: number | null = null): Outcome => ({
  kind: 'throttled',
  retryAfterMs,
  fault: faultOf('rate_limit_exceeded'),
});
export const denied = (code = 'insufficient_credits'): Outcome => ({ kind: 'denied', fault: faultOf(code) });

const faults = fc.constantFrom('timeout', 'http_500', 'connect_failed', 'insufficient_credits').map(faultOf);
const phases = fc.constantFrom('queued', 'processing');
const words = fc.constantFrom('queued', 'processing', 'warming_up', 'constructor');
const hints = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 700_000 }),
  fc.constantFrom(Number.MAX_SAFE_INTEGER),
);
/** From "at once" to far more than any sensible wait. */
const waits = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 3_600_000 }),
  fc.constantFrom(0, 1, 86_400_000, 1e15, Number.POSITIVE_INFINITY),
);
const usages = fc.constantFrom({ status: 'reserved', reservedMicros: 1_512_000 }, { status: 'captured' });
const results = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant(someResult) },
);

/** What a create call can come to. */
export const createOutcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('accepted' as const),
      providerJobId: fc.constant('job_sume_1'),
      phase: phases,
      word: words,
      hintMs: hints,
      usage: usages,
    },
    { requiredKeys: ['kind', 'providerJobId', 'phase', 'hintMs'] },
  ),
  fc.record({ kind: fc.constant('refused' as const), fault: faults }),
  fc.record({ kind: fc.constant('no_slot' as const), retryAfterMs: waits, fault: faults }),
  fc.record({ kind: fc.constant('denied' as const), fault: faults }),
  fc.record({ kind: fc.constant('trouble' as const), fault: faults, retryAfterMs: waits }),
);

/** What a status read can come to while the job has not ended. */
export const openReadOutcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    { kind: fc.constant('running' as const), phase: phases, word: words, hintMs: hints, usage: usages },
    { requiredKeys: ['kind', 'phase', 'hintMs'] },
  ),
  fc.record({ kind: fc.constant('missing' as const), fault: faults }),
  fc.record({ kind: fc.constant('throttled' as const), retryAfterMs: waits, fault: faults }),
  fc.record({ kind: fc.constant('denied' as const), fault: faults }),
  fc.record({ kind: fc.constant('trouble' as const), fault: faults, retryAfterMs: waits }),
);

/** What a status read can come to, verdicts included; open ones come far more often, so that sequences grow long. */
export const readOutcomes: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 12, arbitrary: openReadOutcomes },
  {
    weight: 2,
    arbitrary: fc.record(
      { kind: fc.constant('completed' as const), word: fc.constant('completed'), result: results, usage: usages },
      { requiredKeys: ['kind', 'word', 'result'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        kind: fc.constant('ended' as const),
        as: fc.constantFrom('failed', 'canceled', 'expired'),
        word: words,
        fault: faults,
        usage: usages,
      },
      { requiredKeys: ['kind', 'as', 'word'] },
    ),
  },
);
