import { jobId } from '../schema/answer-fields.ts';
import { batchAnswer, itemsAnswer, jobAnswer, jobListAnswer, jobWithOutlookAnswer } from '../schema/job-answers.ts';
import { batchName } from '../schema/job-fields.ts';
import { jobQuery, jobsQuery } from '../schema/queries.ts';
import { adoptBody, batchBody, submitBody } from '../schema/submit.ts';
import {
  exampleBatch,
  exampleCanceledJob,
  exampleCompletedJob,
  exampleJob,
  exampleJobId,
  exampleSummary,
} from './examples.ts';
import type { OperationNotes } from './operation-notes.ts';
import { bodyProblems, tokenProblems } from './problem-codes.ts';

const input = { model: 'seedance-2-mini', prompt: 'A lighthouse at dusk', duration: 8, resolution: '720p' };
const path = { id: { schema: jobId, description: 'The id of the job.', example: exampleJobId } };
const newJobProblems = [
  ...tokenProblems,
  ...bodyProblems,
  'webhook_url_refused',
  'webhook_disabled',
  'batch_completed',
  'no_account',
  'account_not_allowed',
] as const;

export const jobOperations = {
  submitJob: {
    tag: 'jobs',
    summary: 'Submit a render',
    description:
      'The job is durable once this is answered. Send the same Idempotency-Key again after any doubt: it is the same job, ' +
      'and it is never paid for twice.',
    headers: ['Idempotency-Key'],
    body: {
      schema: submitBody,
      description: 'The render, and what is to happen with its job.',
      examples: {
        least: { summary: 'No more than it takes', value: { input: { model: input.model, prompt: input.prompt } } },
        all: {
          summary: 'With everything that can be said',
          value: {
            input,
            account: 'sume',
            priority: 7,
            deadline_seconds: 7_200,
            metadata: { scene: '12' },
            batch: 'campaign-814',
            webhook_url: 'https://example.com/hooks/pollkeeper',
            webhook_events: ['job.completed', 'job.failed'],
          },
        },
      },
    },
    answers: {
      202: {
        description: 'The job was taken in, now or before.',
        schema: jobAnswer,
        example: exampleJob,
        headers: ['Location', 'Idempotent-Replayed'],
      },
    },
    problems: [
      ...newJobProblems,
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'spending_cap_reached',
    ],
  },
  listJobs: {
    tag: 'jobs',
    summary: 'List jobs',
    description:
      'The owner’s jobs, newest first. A page may be short of `limit`, even empty, while `next_cursor` is not null: go on ' +
      'until it is. A cursor is good only with the filter that it came from.',
    query: jobsQuery,
    queryNotes: {
      state: { description: 'Only jobs in this state.', example: 'waiting' },
      batch: { description: 'Only jobs of this batch.', example: 'campaign-814' },
      limit: { description: 'Jobs on a page at most.', example: 20 },
      cursor: { description: '`next_cursor` of the page before, as it was.' },
    },
    answers: {
      200: {
        description: 'A page.',
        schema: jobListAnswer,
        example: { jobs: [exampleSummary], next_cursor: null },
      },
    },
    problems: [...tokenProblems, 'state_invalid', 'batch_invalid', 'limit_invalid', 'cursor_invalid'],
  },
  submitBatch: {
    tag: 'jobs',
    summary: 'Submit many renders',
    description:
      'Each item is a submit of its own with its own key and result: one that is wrong fails alone. What stands beside the ' +
      'items counts for those that do not say it themselves. May be repeated as a whole.',
    body: {
      schema: batchBody,
      description: 'Up to 500 items, 5 MB.',
      examples: {
        two: {
          summary: 'Two scenes of a campaign',
          value: {
            batch: 'campaign-815',
            items: [
              { idempotency_key: 'campaign-815-1', input },
              { idempotency_key: 'campaign-815-2', input: { ...input, prompt: 'The same at dawn' }, priority: 9 },
            ],
          },
        },
        oneRefused: {
          summary: 'The second has the key of the first, and is refused alone',
          value: {
            items: [
              { idempotency_key: 'campaign-816-1', input },
              { idempotency_key: 'campaign-816-1', input: { ...input, duration: 4 } },
            ],
          },
        },
      },
    },
    answers: {
      200: {
        description: 'What became of each item, in their order.',
        schema: itemsAnswer,
        example: {
          items: [{ index: 0, status: 202, replayed: false, job: exampleSummary }],
          accepted: 1,
          replayed: 0,
          refused: 0,
        },
      },
    },
    problems: [...tokenProblems, ...bodyProblems],
  },
  adoptJobs: {
    tag: 'jobs',
    summary: 'Adopt renders made elsewhere',
    description:
      'Takes over renders that the provider knows already, by its ids: they are read to their end and never sent. The same ' +
      'id is always the same job, so this may be repeated.',
    body: {
      schema: adoptBody,
      description: 'Up to 1,000 items, 5 MB.',
      examples: {
        one: {
          summary: 'One render, with news of its end',
          value: {
            account: 'sume',
            webhook_url: 'https://example.com/hooks/pollkeeper',
            items: [{ provider_job_id: 'job_9f2c', metadata: { scene: '3' }, deadline_seconds: 3_600 }],
          },
        },
      },
    },
    answers: {
      200: {
        description: 'What became of each item, in their order.',
        schema: itemsAnswer,
        example: {
          items: [{ index: 0, status: 202, replayed: false, job: { ...exampleSummary, state: 'queued' } }],
          accepted: 1,
          replayed: 0,
          refused: 0,
        },
      },
    },
    problems: [...tokenProblems, ...bodyProblems, 'no_account', 'account_not_allowed', 'account_needed'],
  },
  getJob: {
    tag: 'jobs',
    summary: 'Read a job',
    description:
      'With `wait`, the answer comes when the job changes or has ended, or when the time is up; then it is 304 if ' +
      '`If-None-Match` still names what it was.',
    path,
    query: jobQuery,
    queryNotes: { wait: { description: 'Seconds to wait for a change; 0 answers at once.', example: 0 } },
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The job, what it waits for, and when it may be done.',
        schema: jobWithOutlookAnswer,
        example: { ...exampleCompletedJob, waiting_for: null, predicted_completion: null },
        headers: ['ETag'],
      },
      304: { description: 'Nothing has changed since the `ETag` in `If-None-Match`.', headers: ['ETag'] },
    },
    problems: [...tokenProblems, 'no_such_job', 'wait_invalid'],
  },
  cancelJob: {
    tag: 'jobs',
    summary: 'Cancel a job',
    description:
      'A job that was never sent is canceled at once and costs nothing. Otherwise the provider is asked, and a read tells ' +
      'what came of it: it may still complete, and be billed.',
    path,
    answers: {
      200: { description: 'It is canceled, and was never sent.', schema: jobAnswer, example: exampleCanceledJob },
      202: { description: 'The provider will be asked.', schema: jobAnswer, example: exampleJob },
    },
    problems: [...tokenProblems, 'body_invalid', 'no_such_job', 'job_ended', 'request_raced'],
  },
  pollJob: {
    tag: 'jobs',
    summary: 'Poll a job now',
    description: 'Makes the job due at once. Of a job that was given up, it takes the reads up again.',
    path,
    answers: { 202: { description: 'It is due.', schema: jobAnswer, example: exampleJob } },
    problems: [...tokenProblems, 'no_such_job', 'job_ended', 'job_unconfirmed'],
  },
  getBatch: {
    tag: 'jobs',
    summary: 'Read a batch',
    description:
      'A batch is completed when all its jobs have ended and none was added for a minute; then it takes no more. ' +
      '`counts` are by state: of the moment while it is open, final once it is completed.',
    path: { name: { schema: batchName, description: 'The name of the batch.', example: 'campaign-814' } },
    answers: { 200: { description: 'The batch.', schema: batchAnswer, example: exampleBatch } },
    problems: [...tokenProblems, 'no_such_batch'],
  },
} satisfies Record<string, OperationNotes>;
