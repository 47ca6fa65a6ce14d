/* Answers as they look, for the document. */

const id = (prefix: string, letters: string) => `${prefix}_${letters.repeat(32).slice(0, 32)}`;

export const exampleJobId = id('job', 'k7q2mzwa');
export const exampleEndpointId = id('whe', 'd4xh5tjc');
export const exampleDeliveryId = id('dlv', 'p3ynb6ur');
const exampleEventId = id('evt', 'w2gsf5oe');
const exampleBatchId = id('bat', 'l6vix7da');
// Not a secret: the 32 bytes say so.
export const exampleSecret = `whsec_${Buffer.from('an example of 32 bytes, no more.').toString('base64')}`;

export const exampleSummary = {
  id: exampleJobId,
  state: 'waiting',
  account: 'sume',
  priority: 5,
  metadata: { scene: '12' },
  batch: 'campaign-814',
  created_at: '2026-11-30T09:15:00.000Z',
  updated_at: '2026-11-30T09:15:00.000Z',
  submitted_at: null,
  finished_at: null,
  deadline_at: '2026-12-01T09:15:00.000Z',
  cancel_requested_at: null,
  provider: { name: 'sume', job_id: null, status: null },
  error: null,
  usage: null,
  cost: { estimated_usd_micros: 480_000, billed_usd_micros: null },
  links: { self: `/v1/jobs/${exampleJobId}`, list: '/v1/jobs' },
};

export const exampleJob = {
  ...exampleSummary,
  input: { model: 'seedance-2-mini', prompt: 'A lighthouse at dusk', duration: 8, resolution: '720p' },
  result: null,
  result_truncated: false,
  webhook: { url: 'https://example.com/hooks/pollkeeper', endpoint_id: exampleEndpointId, events: null },
  events: [],
  history: [{ at: '2026-11-30T09:15:00.000Z', state: 'waiting', reason: null }],
};

export const exampleCanceledJob = {
  ...exampleJob,
  state: 'canceled',
  updated_at: '2026-11-30T09:15:20.000Z',
  finished_at: '2026-11-30T09:15:20.000Z',
  cancel_requested_at: '2026-11-30T09:15:20.000Z',
};

export const exampleCompletedJob = {
  ...exampleJob,
  state: 'completed',
  updated_at: '2026-11-30T09:17:30.000Z',
  submitted_at: '2026-11-30T09:15:01.000Z',
  finished_at: '2026-11-30T09:17:30.000Z',
  provider: { name: 'sume', job_id: 'job_9f2c', status: 'completed' },
  result: { video_url: 'https://cdn.example.com/clip.mp4' },
  events: [{ id: exampleEventId, type: 'job.completed', at: '2026-11-30T09:17:30.000Z' }],
};

export const exampleBatch = {
  id: exampleBatchId,
  name: 'campaign-814',
  state: 'completed',
  jobs: 2,
  counts: { completed: 2 },
  created_at: '2026-11-30T09:15:00.000Z',
  completed_at: '2026-11-30T09:18:30.000Z',
  links: { self: '/v1/batches/campaign-814', jobs: '/v1/jobs?batch=campaign-814' },
};

export const exampleEndpoint = {
  id: exampleEndpointId,
  kind: 'registered',
  url: 'https://example.com/hooks/pollkeeper',
  events: ['job.completed', 'job.failed'],
  description: 'The editing desk',
  state: 'enabled',
  disabled_by: null,
  disabled_at: null,
  created_at: '2026-11-30T09:00:00.000Z',
  updated_at: '2026-11-30T09:00:00.000Z',
  links: { self: `/v1/endpoints/${exampleEndpointId}`, list: '/v1/endpoints' },
};

export const exampleDelivery = {
  id: exampleDeliveryId,
  event_id: exampleEventId,
  type: 'job.completed',
  job_id: exampleJobId,
  endpoint_id: exampleEndpointId,
  state: 'pending',
  attempts: 1,
  next_at: '2026-11-30T09:17:36.000Z',
  created_at: '2026-11-30T09:17:30.000Z',
  ended_at: null,
  log: [{ at: '2026-11-30T09:17:31.000Z', status: 500, ms: 120, fault: null, snippet: 'Internal Server Error' }],
};

const use = { limit: 120, used: 14, left: 106 };
const budget = {
  per_minute: use,
  per_day: { limit: 10_000, used: 900, left: 9_100, gone_at: null },
  provider_says: null,
};

export const exampleAccount = {
  id: 'sume',
  state: 'active',
  since: null,
  until: null,
  creates_hold: null,
  slots: { max: 24, effective: 24, used: 7, waiting: 3 },
  reads: budget,
  creates: budget,
  links: { self: '/v1/accounts/sume', list: '/v1/accounts' },
};
