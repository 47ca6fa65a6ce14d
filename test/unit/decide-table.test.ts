import { describe, expect, test } from 'vitest';
import { type Decision, decide, expireUnsent } from '../../lib/decide.ts';
import { isActive, type Job, jobStates } from '../../lib/job.ts';
import {
  cases,
  decisionText,
  isBefore,
  jobOf,
  kindOf,
  momentOf,
  outcomeOf,
  rowIds,
} from '../support/decision-table.ts';
import { hourMs, minuteMs, outcomeKinds, secondMs } from '../support/jobs.ts';

/*
 * docs/decide.md is the expectation: what `decide` makes of each row's job and answer is told in the document's own
 * words, and compared with the row.
 */

test.each(cases)('$id: $state, record $record, deadline $time, $answer', (row) => {
  const { next, due, written } = row;
  const job = jobOf(row.state, row.record, row.time);
  expect(told(job, row.answer, momentOf(row.time, job.deadlineAtMs))).toEqual({ next, due, written });
});

describe('docs/decide.md', () => {
  test('numbers its rows without a gap, and names no other', () => {
    expect(rowIds).toEqual(rowIds.map((_, at) => `D${String(at + 1).padStart(2, '0')}`));
    const named = decisionText.match(/\bD\d+\b/g) ?? [];
    expect(named.filter((id) => !rowIds.includes(id))).toEqual([]);
  });

  test('has a row for every active state and every kind of answer, before the deadline and after it', () => {
    const shown = cases.map(({ state, answer, time }) => `${state} ${kindOf(answer)} ${isBefore(time)}`);
    const all = jobStates
      .filter(isActive)
      .flatMap((state) => outcomeKinds.flatMap((kind) => [`${state} ${kind} true`, `${state} ${kind} false`]));
    // A deadline never moves, so an overdue job is always past it.
    const wanted = all.filter((combination) => !/^overdue .* true$/.test(combination));
    expect(wanted.filter((combination) => !shown.includes(combination))).toEqual([]);
  });

  test('has a row for every way in which a create that was sent before is turned away', () => {
    const repeated = cases.filter(({ answer }) => answer.endsWith(', sent before'));
    const shown = repeated.map(({ state, answer, time }) => `${state} ${kindOf(answer)} ${isBefore(time)}`);
    const wanted = ['waiting', 'submitting'].flatMap((state) =>
      ['refused', 'no_slot', 'denied'].flatMap((kind) => [`${state} ${kind} true`, `${state} ${kind} false`]),
    );
    expect(wanted.filter((combination) => !shown.includes(combination))).toEqual([]);
  });
});

/** The two decisions between which all others lie: a spread begins at the first and ends at the second. */
function told(job: Job, answer: string, nowMs: number): { next: string; due: string; written: string } {
  const decisions = [0, 1 - 1e-9].map((random) => {
    if (answer !== 'its turn to be sent') return decide(job, outcomeOf(answer), nowMs, random);
    const end = expireUnsent(job, nowMs);
    if (end === null) throw new Error(`${job.state} would be sent`);
    return end;
  });
  const tellEach = (tell: (decision: Decision) => string) => [...new Set(decisions.map(tell))].join(' or ');
  return {
    next: tellEach((decision) => nextState(job, decision)),
    due: due(decisions, job.deadlineAtMs, nowMs),
    written: tellEach((decision) => written(job, decision, kindOf(answer))),
  };
}

function nextState(job: Job, decision: Decision): string {
  if (decision.kind === 'keep') return 'same';
  const { state } = decision.job;
  expect(isActive(state), 'an end leaves the due set, and nothing else does').toBe(decision.kind !== 'end');
  return state === job.state ? 'same' : state;
}

function due(decisions: Decision[], deadlineAtMs: number, nowMs: number): string {
  const [first, last] = decisions.flatMap((decision) => (decision.kind === 'end' ? [] : [decision.dueAtMs]));
  if (first === undefined || last === undefined) return 'never';
  const afterDeadlineMs = first - deadlineAtMs;
  if (first === last && afterDeadlineMs === 0) return 'at the deadline';
  if (first === last && afterDeadlineMs > 0 && afterDeadlineMs % hourMs === 0) {
    return `deadline + ${afterDeadlineMs / hourMs} h`;
  }
  const [unit, unitMs] = last - nowMs < 2 * minuteMs ? ['s', secondMs] : ['min', minuteMs];
  const amounts = new Set([first, last].map((atMs) => (atMs - nowMs) / unitMs));
  return `in ${[...amounts].join(' to ')} ${unit}`;
}

function written(before: Job, decision: Decision, answerKind: string): string {
  if (decision.kind === 'keep') return 'nothing';
  const after = decision.job;
  expect(after.result !== undefined, 'a result is kept exactly by a success').toBe(after.state === 'completed');
  if (after.notBeforeMs !== undefined) expect(decision).toHaveProperty('dueAtMs', after.notBeforeMs);
  const words = {
    state: 'state',
    providerJobId: 'id',
    providerStatus: 'word',
    usage: 'price',
    failuresInRow: `failures ${after.failuresInRow}`,
    missingReads: `404s ${after.missingReads}`,
    resultReads: `result reads ${after.resultReads}`,
    result: after.result?.truncated === true ? 'no room for the result' : 'result',
    lastFault: after.lastFault?.code === answerKind ? 'fault' : `fault ${after.lastFault?.code}`,
    notBeforeMs: 'wait',
    suspectedAtMs: 'trusted',
    // These go along with the others.
    submittedAtMs: '',
    finishedAtMs: '',
    updatedAtMs: '',
    missingSinceMs: '',
    history: '',
    events: '',
  };
  const changed = (name: string) =>
    JSON.stringify(before[name as keyof Job]) !== JSON.stringify(after[name as keyof Job]);
  const unnamed = Object.keys({ ...before, ...after }).filter((name) => !Object.hasOwn(words, name) && changed(name));
  expect(unnamed, 'fields that change and that the table has no word for').toEqual([]);
  const facts = Object.entries(words).filter(([name, word]) => word !== '' && changed(name));
  return facts.map(([, word]) => word).join(', ');
}
