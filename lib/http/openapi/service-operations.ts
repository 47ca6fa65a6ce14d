import * as z from 'zod';
import { accountAnswer, accountListAnswer, healthAnswer, hookAnswer, statsAnswer } from '../schema/account-answers.ts';
import { jobId } from '../schema/answer-fields.ts';
import { accountName } from '../schema/job-fields.ts';
import { exampleAccount, exampleJobId } from './examples.ts';
import type { OperationNotes } from './operation-notes.ts';
import { anyProblems, tokenProblems } from './problem-codes.ts';

const path = { id: { schema: accountName, description: 'The id of the account.', example: 'sume' } };
const problems = [...tokenProblems, 'no_such_account'] as const;
const costs = {
  day: '2026-11-30',
  account: 'sume',
  jobs: 12,
  estimated_usd_micros: 5_760_000,
  billed_usd_micros: 5_280_000,
};

function act(summary: string, description: string): OperationNotes {
  return {
    tag: 'accounts',
    summary,
    description,
    path,
    answers: { 200: { description: 'The account as it is now.', schema: accountAnswer, example: exampleAccount } },
    problems: [...problems, 'body_invalid', 'not_operator'],
  };
}

export const serviceOperations = {
  listAccounts: {
    tag: 'accounts',
    summary: 'List accounts',
    description: 'Those that the owner may use or operate.',
    answers: {
      200: { description: 'All of them.', schema: accountListAnswer, example: { accounts: [exampleAccount] } },
    },
    problems: [...tokenProblems],
  },
  getAccount: {
    tag: 'accounts',
    summary: 'Read an account',
    description: 'How it is doing, its slots and its budgets.',
    path,
    answers: { 200: { description: 'The account.', schema: accountAnswer, example: exampleAccount } },
    problems,
  },
  pauseAccount: act('Pause an account', 'Nothing is called for it any more, until it is resumed.'),
  drainAccount: act('Drain an account', 'Nothing new is sent; what is at the provider is read to its end.'),
  resumeAccount: act('Resume an account', 'It works again, whatever held it back: the next call is made at once.'),
  getStats: {
    tag: 'accounts',
    summary: 'How the accounts are doing, and what they have cost',
    description: 'Costs are of today and the six days before, UTC; null when they can not be read now.',
    answers: {
      200: {
        description: 'The figures of the moment.',
        schema: statsAnswer,
        example: {
          at: '2026-11-30T09:15:00.000Z',
          accounts: [{ ...exampleAccount, due_lag_ms: 0, hooks: null }],
          faults: [],
          costs: { own: [costs], accounts: [costs] },
        },
      },
    },
    problems: [...tokenProblems],
  },
  getHealth: {
    tag: 'service',
    summary: 'Whether the service works',
    description: 'Needs no token. Looked up at most once in five seconds.',
    answers: {
      200: {
        description: 'It works; `degraded` when something keeps it from a part of its work that will pass.',
        schema: healthAnswer,
        example: { status: 'up', stage: 'prod', faults: [] },
      },
      503: {
        description: 'Nothing is worked, at least of one account: somebody should look at it.',
        schema: healthAnswer,
        example: { status: 'down', stage: 'prod', faults: [{ account: 'sume', code: 'denied' }] },
      },
    },
    problems: anyProblems,
  },
  getOpenapi: {
    tag: 'service',
    summary: 'This document',
    description: 'Needs no token.',
    answers: {
      200: { description: 'An OpenAPI 3.1 document.', schema: z.looseObject({ openapi: z.literal('3.1.1') }) },
    },
    problems: anyProblems,
  },
  receiveSumeHook: {
    tag: 'service',
    summary: 'What Sume calls when a render has changed',
    description:
      'Not for users. Instead of a token it has Sume’s signature; it makes the job due, and decides nothing.',
    query: z.object({ job: jobId.optional() }),
    queryNotes: { job: { description: 'The job that the create was made for.', example: exampleJobId } },
    headers: ['X-Sume-Event-Id', 'X-Sume-Timestamp', 'X-Sume-Signature'],
    body: {
      schema: z.looseObject({}),
      description: 'Sume’s event.',
      examples: {
        completed: { summary: 'A render has ended', value: { type: 'generation.completed', data: { id: 'job_9f2c' } } },
      },
    },
    answers: { 202: { description: 'It was taken note of.', schema: hookAnswer, example: { accepted: true } } },
    problems: [...anyProblems, 'signature_invalid', 'body_too_large', 'record_unavailable', 'due_set_unavailable'],
  },
} satisfies Record<string, OperationNotes>;
