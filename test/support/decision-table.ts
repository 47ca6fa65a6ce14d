import { readFileSync } from 'node:fs';
import { type Job, type JobState, jobStates } from '../../lib/job.ts';
import type { Outcome, Phase } from '../../lib/outcome.ts';
import { confirmedJob, faultOf, hourMs, jobWith, minuteMs, secondMs, someResult } from './jobs.ts';

/* The rows of docs/decide.md, and the job and the answer that a row tells in words. */

export const decisionText = readFileSync('docs/decide.md', 'utf8');

/** `states` and `times` are lists: a row holds for each state at each time. */
const rows = [...decisionText.matchAll(/^\| (D\d+) \|(.+)\|$/gm)].map(([line, id = '', rest = '']) => {
  const cells = rest.split('|').map((cell) => cell.trim());
  if (cells.length !== 7) throw new Error(`a row has eight cells, not so: ${line}`);
  const [states = '', record = '', times = '', answer = '', next = '', due = '', written = ''] = cells;
  const told = { record, answer, next, due, written };
  return { id, states: states.split(', ').map(stateNamed), times: times.split(', '), ...told };
});

export const rowIds = rows.map(({ id }) => id);
export const cases = rows.flatMap(({ states, times, ...row }) =>
  states.flatMap((state) => times.map((time) => ({ ...row, state, time }))),
);

export function kindOf(answer: string): string {
  return answer.match(/^`(\w+)`/)?.[1] ?? answer;
}

export function isBefore(time: string): boolean {
  return time.endsWith('before');
}

/** The moment that a row means, in ms. A plain "before" is half a day. */
export function momentOf(time: string, deadlineAtMs: number): number {
  if (time === 'at it') return deadlineAtMs;
  const distanceMs = time === 'before' ? 12 * hourMs : msOf(time.replace(/ (before|after)$/, ''));
  return deadlineAtMs + (isBefore(time) ? -distanceMs : distanceMs);
}

/** A job in this state whose record has what the row says, such as `404s 4 over 10 min`. */
export function jobOf(state: JobState, record: string, time: string): Job {
  const unsent = state === 'waiting' || state === 'submitting';
  const word = state === 'queued' ? 'queued' : 'processing';
  const job = unsent ? jobWith({ state }) : confirmedJob(state, { providerStatus: word });
  const facts = record === '–' ? [] : record.split(', ');
  const nowMs = momentOf(time, job.deadlineAtMs);
  return Object.assign({}, job, ...facts.map((fact) => fieldsOf(fact, nowMs)));
}

/** The answer that the row tells, such as `no_slot`, wait 20 s, sent before. */
export function outcomeOf(answer: string): Outcome {
  const words = answer
    .replace(/^`\w+`,? ?/, '')
    .split(', ')
    .filter((word) => word !== '');
  const take = (pattern: RegExp): string | undefined => {
    const at = words.findIndex((word) => pattern.test(word));
    return at < 0 ? undefined : words.splice(at, 1)[0]?.match(pattern)?.[1];
  };
  const outcome = outcomeFrom(kindOf(answer), take);
  if (words.length > 0) throw new Error(`not understood in ${answer}: ${words.join(', ')}`);
  return outcome;
}

function outcomeFrom(kind: string, take: (pattern: RegExp) => string | undefined): Outcome {
  const fault = faultOf(kind);
  const timeOf = (told: string | undefined) => (told === undefined ? null : msOf(told));
  const retryAfterMs = timeOf(take(/^wait (.+)$/));
  const repeated = take(/^(sent before)$/) === undefined ? {} : { repeated: true };
  switch (kind) {
    case 'accepted':
    case 'running': {
      const phase = take(/^as (queued|processing)$/) as Phase;
      const word = take(/^says (\w+)$/) ?? phase;
      const said = take(/^(no word)$/) === undefined ? { word } : {};
      const price = take(/^(another price)$/) === undefined ? {} : { usage: { reservedMicros: 1 } };
      const progress = { phase, hintMs: timeOf(take(/^next in (.+)$/)), ...said, ...price };
      return kind === 'running' ? { kind, ...progress } : { kind, providerJobId: 'job_sume_1', ...progress };
    }
    case 'completed': {
      const what = take(/^(with a result|with one too large to keep|without a result)$/);
      const kept = what === 'with a result' ? someResult : { value: null, truncated: true };
      return { kind, word: 'completed', result: what === 'without a result' ? null : kept };
    }
    case 'ended': {
      const as = take(/^as (failed|canceled|expired)$/) as 'failed' | 'canceled' | 'expired';
      return { kind, as, word: as, ...(take(/^(with a reason)$/) === undefined ? {} : { fault }) };
    }
    case 'no_slot':
      return { kind, retryAfterMs, fault, ...repeated };
    case 'refused':
    case 'denied':
      return { kind, fault, ...repeated };
    case 'missing':
      return { kind, fault };
    case 'throttled':
    case 'trouble':
      return { kind, retryAfterMs, fault };
    default:
      throw new Error(`there is no answer ${kind}`);
  }
}

function stateNamed(name: string): JobState {
  const state = jobStates.find((one) => one === name);
  if (state === undefined) throw new Error(`there is no state ${name}`);
  return state;
}

function fieldsOf(fact: string, nowMs: number): Partial<Job> {
  const [, name, value = ''] =
    fact.match(/^(failures|404s|result reads|fault|suspect|asked for|cancel asked) ?(.*)$/) ?? [];
  switch (name) {
    case 'failures':
      return { failuresInRow: Number(value) };
    case '404s': {
      const [reads, since = ''] = value.split(' over ');
      return { missingReads: Number(reads), missingSinceMs: nowMs - msOf(since) };
    }
    case 'result reads':
      return { resultReads: Number(value) };
    case 'fault':
      return { lastFault: { ...faultOf(value), atMs: nowMs - minuteMs } };
    case 'suspect':
      return { suspectedAtMs: nowMs - minuteMs };
    case 'cancel asked':
      return { cancelAskedAtMs: nowMs - minuteMs };
    case 'asked for':
      return { rearmedAtMs: nowMs - msOf(value.replace(/ ago$/, '')) };
    default:
      throw new Error(`a record has no "${fact}"`);
  }
}

const unitsMs = new Map([
  ['s', secondMs],
  ['min', minuteMs],
  ['h', hourMs],
]);

function msOf(duration: string): number {
  const [, amount, unit = ''] = duration.match(/^(\d+) (\w+)$/) ?? [];
  const unitMs = unitsMs.get(unit);
  if (unitMs === undefined) throw new Error(`"${duration}" is no duration such as 30 s`);
  return Number(amount) * unitMs;
}
