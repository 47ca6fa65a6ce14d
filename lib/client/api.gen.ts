// Made by `npm run generate` from docs/openapi.json. DO NOT EDIT.

export type Account = {
  id: string;
  state: "active" | "paused" | "draining" | "denied" | "failing" | "held";
  since: string | null;
  until: string | null;
  creates_hold: {
    reason: "no_slot" | "denied" | "no_credit";
    since: string | null;
    until: string | null;
  } | null;
  /** `effective`: how many there are now, after the provider had no room. */
  slots: {
    max: number | null;
    effective: number | null;
    used: number;
    waiting: number;
  };
  reads: Budget;
  creates: Budget;
  links: {
    self: string;
    list: string;
  };
};

export type AccountList = {
  accounts: Account[];
};

export type AdoptBody = {
  items: AdoptItem[];
  /** The provider account. Left out of a submit, the job is placed. */
  account?: string;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch?: string;
  /** Where the job’s events go, beside the registered endpoints: https, a public address. */
  webhook_url?: string;
  /** Which events go to `webhook_url`; all but job.processing when left out. */
  webhook_events?: EventType[];
};

export type AdoptItem = {
  /** The id that the provider gave the render. */
  provider_job_id: string;
  /** Your own names and values, given back as they are. */
  metadata?: Metadata;
  /** Seconds from now until the job counts as overdue; a day when left out. */
  deadline_seconds?: number;
};

export type Batch = {
  id: string;
  name: string;
  state: "open" | "completed";
  jobs: number;
  counts: {
    [name: string]: number;
  };
  created_at: string;
  completed_at: string | null;
  links: {
    self: string;
    jobs: string;
  };
};

export type BatchBody = {
  items: BatchItem[];
  /** The provider account. Left out of a submit, the job is placed. */
  account?: string;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch?: string;
  /** Where the job’s events go, beside the registered endpoints: https, a public address. */
  webhook_url?: string;
  /** Which events go to `webhook_url`; all but job.processing when left out. */
  webhook_events?: EventType[];
};

export type BatchEvent = {
  type: "batch.completed";
  timestamp: string;
  data: EventBatch;
};

export type BatchItem = {
  /** A value of your own, new for each job and the same on every retry. */
  idempotency_key: string;
  input: Input;
  /** The provider account. Left out of a submit, the job is placed. */
  account?: string;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch?: string;
  /** Where the job’s events go, beside the registered endpoints: https, a public address. */
  webhook_url?: string;
  /** Which events go to `webhook_url`; all but job.processing when left out. */
  webhook_events?: EventType[];
  /** 9 goes first among the jobs that wait for a slot. */
  priority?: number;
  /** Seconds from now until the job counts as overdue; a day when left out. */
  deadline_seconds?: number;
  /** Your own names and values, given back as they are. */
  metadata?: Metadata;
};

export type Budget = {
  per_minute: {
    limit: number | null;
    used: number;
    left: number | null;
  };
  per_day: {
    limit: number | null;
    used: number;
    left: number | null;
    gone_at: string | null;
  };
  provider_says: {
    left: number;
    until: string | null;
  } | null;
};

export type CostTotal = {
  day: string;
  /** The provider account. Left out of a submit, the job is placed. */
  account: string;
  jobs: number;
  estimated_usd_micros: number;
  billed_usd_micros: number;
};

export type Deliveries = {
  deliveries: Delivery[];
};

export type Delivery = {
  id: string;
  event_id: string;
  type: EventType;
  job_id?: string;
  batch_id?: string;
  endpoint_id: string;
  state: "pending" | "delivered" | "dead" | "canceled";
  /** Since it was made, or last asked for again. */
  attempts: number;
  /** When the next attempt is due; null once it has ended. */
  next_at: string | null;
  created_at: string;
  ended_at: string | null;
  log: ({
    at: string;
    status: number | null;
    ms: number;
    fault: string | null;
    snippet: string;
  })[];
};

export type DeliveryList = {
  deliveries: Delivery[];
  /** For the next page; null at the end. */
  next_cursor: string | null;
};

export type Endpoint = {
  id: string;
  /** `registered`: hears of all jobs. `job`: came with a `webhook_url`, and hears only of those jobs. */
  kind: "registered" | "job";
  url: string;
  /** Null: the usual ones, or of one that came with jobs, what each job chose. */
  events: EventType[] | null;
  description: string;
  state: "enabled" | "disabled";
  /** `gone`: it answered 410. `owner`: its owner did it. */
  disabled_by: "gone" | "owner" | null;
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
  links: {
    self: string;
    list: string;
  };
};

export type EndpointBody = {
  url: string;
  events?: EventType[] | null;
  description?: string;
};

export type EndpointList = {
  endpoints: Endpoint[];
};

export type EndpointPatch = {
  url?: string;
  events?: EventType[] | null;
  description?: string;
  state?: "enabled" | "disabled";
};

export type EndpointSecret = {
  secret: string | null;
  created_at: string | null;
  previous: {
    secret: string;
    expires_at: string;
  }[];
};

export type EventBatch = {
  id: string;
  name: string;
  state: "open" | "completed";
  jobs: number;
  counts: {
    [name: string]: number;
  };
  created_at: string;
  completed_at: string | null;
  links: {
    self: string;
    jobs: string;
  };
  /** Null when they do not all fit: then read them by `links.jobs`. */
  job_ids: string[] | null;
  job_ids_truncated: boolean;
};

export type EventJob = {
  id: string;
  state: JobState;
  /** The provider account. Left out of a submit, the job is placed. */
  account: string;
  /** 9 goes first among the jobs that wait for a slot. */
  priority: number;
  /** Your own names and values, given back as they are. */
  metadata: Metadata;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch: string | null;
  created_at: string | null;
  updated_at: string | null;
  submitted_at: string | null;
  finished_at: string | null;
  deadline_at: string | null;
  /** When its owner asked for it to be canceled. */
  cancel_requested_at: string | null;
  provider: {
    name: string;
    job_id: string | null;
    status: string | null;
  };
  error: JobError | null;
  usage: Usage | null;
  cost: {
    estimated_usd_micros: number | null;
    billed_usd_micros: number | null;
  };
  links: {
    self: string;
    list: string;
  };
  input: {
    [name: string]: unknown;
  } | null;
  result: {
    [name: string]: unknown;
  } | null;
  /** The result, or the input too, was too large: read the job by its link. */
  result_truncated: boolean;
  webhook: JobWebhook | null;
  events: ({
    id: string;
    type: EventType;
    at: string | null;
  })[];
  history: ({
    at: string | null;
    state: JobState;
    reason: string | null;
  })[];
};

export type EventType = "job.processing" | "job.overdue" | "job.completed" | "job.failed" | "job.canceled" | "job.expired" | "job.rejected" | "job.lost" | "job.given_up" | "batch.completed";

export type Health = {
  status: "up" | "degraded" | "down";
  stage: string;
  faults: ({
    account?: string;
    code: "denied" | "failing" | "held" | "no_credit" | "not_drained" | "due_set_unreachable";
  })[];
};

export type HookAccepted = {
  accepted: true;
};

export type HookStats = {
  arrived: number;
  missed: number;
  late: number;
  reads_slowed: boolean;
};

export type Input = {
  model: string;
  prompt: string;
  /** Seconds. */
  duration?: number;
  resolution?: string;
  [name: string]: unknown;
};

export type Items = {
  items: ({
    index: number;
    status: 202;
    replayed: boolean;
    job: JobSummary;
  } | {
    index: number;
    status: number;
    problem: Problem;
  })[];
  /** How many are new jobs. */
  accepted: number;
  /** How many were taken in before. */
  replayed: number;
  refused: number;
};

export type Job = {
  id: string;
  state: JobState;
  /** The provider account. Left out of a submit, the job is placed. */
  account: string;
  /** 9 goes first among the jobs that wait for a slot. */
  priority: number;
  /** Your own names and values, given back as they are. */
  metadata: Metadata;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch: string | null;
  created_at: string | null;
  updated_at: string | null;
  submitted_at: string | null;
  finished_at: string | null;
  deadline_at: string | null;
  /** When its owner asked for it to be canceled. */
  cancel_requested_at: string | null;
  provider: {
    name: string;
    job_id: string | null;
    status: string | null;
  };
  error: JobError | null;
  usage: Usage | null;
  cost: {
    estimated_usd_micros: number | null;
    billed_usd_micros: number | null;
  };
  links: {
    self: string;
    list: string;
  };
  input: {
    [name: string]: unknown;
  };
  result: {
    [name: string]: unknown;
  } | null;
  /** The result was too large to keep: read it from the provider. */
  result_truncated: boolean;
  webhook: JobWebhook | null;
  events: ({
    id: string;
    type: EventType;
    at: string | null;
  })[];
  history: ({
    at: string | null;
    state: JobState;
    reason: string | null;
  })[];
};

export type JobError = {
  code: string;
  message: string;
  provider_request_id: string | null;
  at: string | null;
  failures_in_row: number;
};

export type JobEvent = {
  type: "job.processing" | "job.overdue" | "job.completed" | "job.failed" | "job.canceled" | "job.expired" | "job.rejected" | "job.lost" | "job.given_up";
  timestamp: string;
  data: EventJob;
};

export type JobList = {
  jobs: JobSummary[];
  /** For the next page; null at the end. */
  next_cursor: string | null;
};

export type JobState = "waiting" | "submitting" | "queued" | "processing" | "overdue" | "completed" | "failed" | "canceled" | "expired" | "rejected" | "lost" | "given_up";

export type JobSummary = {
  id: string;
  state: JobState;
  /** The provider account. Left out of a submit, the job is placed. */
  account: string;
  /** 9 goes first among the jobs that wait for a slot. */
  priority: number;
  /** Your own names and values, given back as they are. */
  metadata: Metadata;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch: string | null;
  created_at: string | null;
  updated_at: string | null;
  submitted_at: string | null;
  finished_at: string | null;
  deadline_at: string | null;
  /** When its owner asked for it to be canceled. */
  cancel_requested_at: string | null;
  provider: {
    name: string;
    job_id: string | null;
    status: string | null;
  };
  error: JobError | null;
  usage: Usage | null;
  cost: {
    estimated_usd_micros: number | null;
    billed_usd_micros: number | null;
  };
  links: {
    self: string;
    list: string;
  };
};

export type JobWebhook = {
  url: string;
  endpoint_id: string;
  /** Null: the usual ones. */
  events: EventType[] | null;
};

export type JobWithOutlook = {
  id: string;
  state: JobState;
  /** The provider account. Left out of a submit, the job is placed. */
  account: string;
  /** 9 goes first among the jobs that wait for a slot. */
  priority: number;
  /** Your own names and values, given back as they are. */
  metadata: Metadata;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch: string | null;
  created_at: string | null;
  updated_at: string | null;
  submitted_at: string | null;
  finished_at: string | null;
  deadline_at: string | null;
  /** When its owner asked for it to be canceled. */
  cancel_requested_at: string | null;
  provider: {
    name: string;
    job_id: string | null;
    status: string | null;
  };
  error: JobError | null;
  usage: Usage | null;
  cost: {
    estimated_usd_micros: number | null;
    billed_usd_micros: number | null;
  };
  links: {
    self: string;
    list: string;
  };
  input: {
    [name: string]: unknown;
  };
  result: {
    [name: string]: unknown;
  } | null;
  result_truncated: boolean;
  webhook: JobWebhook | null;
  events: ({
    id: string;
    type: EventType;
    at: string | null;
  })[];
  history: ({
    at: string | null;
    state: JobState;
    reason: string | null;
  })[];
  /** Why the job is not further than it is; null once it has ended. */
  waiting_for: WaitingFor | null;
  /** When the job is likely to have ended; null when nothing tells. */
  predicted_completion: TimeRange | null;
};

export type Metadata = {
  [name: string]: string;
};

export type NewEndpoint = {
  id: string;
  kind: "registered" | "job";
  url: string;
  events: EventType[] | null;
  description: string;
  state: "enabled" | "disabled";
  disabled_by: "gone" | "owner" | null;
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
  links: {
    self: string;
    list: string;
  };
  secret: string;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  /** For people. */
  detail: string;
  /** For programs. */
  code: string;
  /** The header, parameter or body field that is wrong. */
  field?: string;
  /** Not in an item of a list. Also in `X-Request-Id`, and in the service’s own log. */
  request_id?: string;
  [name: string]: unknown;
};

export type RotateSecretBody = {
  /** How long the old secret goes on signing beside the new one. */
  overlap_seconds?: number;
};

export type Stats = {
  at: string | null;
  accounts: WatchedAccount[];
  faults: ({
    account: string;
    code: "denied" | "failing" | "held" | "no_credit";
    since: string | null;
  })[];
  costs: {
    own: CostTotal[];
    accounts: CostTotal[];
  } | null;
};

export type SubmitBody = {
  input: Input;
  /** The provider account. Left out of a submit, the job is placed. */
  account?: string;
  /** The name of a batch of the owner: one event tells when all its jobs have ended. */
  batch?: string;
  /** Where the job’s events go, beside the registered endpoints: https, a public address. */
  webhook_url?: string;
  /** Which events go to `webhook_url`; all but job.processing when left out. */
  webhook_events?: EventType[];
  /** 9 goes first among the jobs that wait for a slot. */
  priority?: number;
  /** Seconds from now until the job counts as overdue; a day when left out. */
  deadline_seconds?: number;
  /** Your own names and values, given back as they are. */
  metadata?: Metadata;
};

export type TimeRange = {
  earliest: string | null;
  latest: string | null;
};

export type Usage = {
  status: string | null;
  reserved_usd_micros: number | null;
  captured_usd_micros: number | null;
  refunded_usd_micros: number | null;
  billable_usd_micros: number | null;
};

export type WaitingFor = {
  kind: "slot";
  place: number;
  predicted_at: TimeRange | null;
} | {
  kind: "hold";
  reason: string;
  until: string | null;
} | {
  kind: "paused";
  since: string | null;
} | {
  kind: "create_budget" | "read_budget" | "provider_hint" | "retry" | "overdue" | "lease";
  until: string | null;
} | {
  kind: "unknown";
};

export type WatchedAccount = {
  id: string;
  state: "active" | "paused" | "draining" | "denied" | "failing" | "held";
  since: string | null;
  until: string | null;
  creates_hold: {
    reason: "no_slot" | "denied" | "no_credit";
    since: string | null;
    until: string | null;
  } | null;
  slots: {
    max: number | null;
    effective: number | null;
    used: number;
    waiting: number;
  };
  reads: Budget;
  creates: Budget;
  links: {
    self: string;
    list: string;
  };
  due_lag_ms: number;
  hooks: HookStats | null;
};

export interface Operations {
  "GET /health": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Health;
    };
  };
  "GET /openapi.json": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: {
        openapi: "3.1.1";
        [name: string]: unknown;
      };
    };
  };
  "GET /v1/jobs": {
    query: {
      /** Only jobs in this state. */
      state?: "waiting" | "submitting" | "queued" | "processing" | "overdue" | "completed" | "failed" | "canceled" | "expired" | "rejected" | "lost" | "given_up";
      /** Only jobs of this batch. */
      batch?: string;
      /** Jobs on a page at most. */
      limit?: number;
      /** `next_cursor` of the page before, as it was. */
      cursor?: string;
    };
    body: null;
    answers: {
      200: JobList;
    };
  };
  "POST /v1/jobs": {
    query: Record<string, never>;
    body: SubmitBody;
    answers: {
      202: Job;
    };
  };
  "POST /v1/jobs/batch": {
    query: Record<string, never>;
    body: BatchBody;
    answers: {
      200: Items;
    };
  };
  "POST /v1/jobs/adopt": {
    query: Record<string, never>;
    body: AdoptBody;
    answers: {
      200: Items;
    };
  };
  "GET /v1/jobs/{id}": {
    query: {
      /** Seconds to wait for a change; 0 answers at once. */
      wait?: number;
    };
    body: null;
    answers: {
      200: JobWithOutlook;
    };
  };
  "POST /v1/jobs/{id}/cancel": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Job;
      202: Job;
    };
  };
  "POST /v1/jobs/{id}/poll": {
    query: Record<string, never>;
    body: null;
    answers: {
      202: Job;
    };
  };
  "POST /v1/jobs/{id}/redeliver": {
    query: Record<string, never>;
    body: null;
    answers: {
      202: Deliveries;
    };
  };
  "GET /v1/jobs/{id}/deliveries": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Deliveries;
    };
  };
  "GET /v1/batches/{name}": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Batch;
    };
  };
  "GET /v1/endpoints": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: EndpointList;
    };
  };
  "POST /v1/endpoints": {
    query: Record<string, never>;
    body: EndpointBody;
    answers: {
      201: NewEndpoint;
    };
  };
  "GET /v1/endpoints/{id}": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Endpoint;
    };
  };
  "PATCH /v1/endpoints/{id}": {
    query: Record<string, never>;
    body: EndpointPatch;
    answers: {
      200: Endpoint;
    };
  };
  "DELETE /v1/endpoints/{id}": {
    query: Record<string, never>;
    body: null;
    answers: {
      204: null;
    };
  };
  "GET /v1/endpoints/{id}/secret": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: EndpointSecret;
    };
  };
  "POST /v1/endpoints/{id}/rotate-secret": {
    query: Record<string, never>;
    body: RotateSecretBody;
    answers: {
      200: EndpointSecret;
    };
  };
  "GET /v1/deliveries": {
    query: {
      /** `dead`: those that failed ten times. */
      state?: "dead";
      /** Those that are pending at this endpoint. */
      endpoint_id?: string;
      /** Deliveries on a page at most. */
      limit?: number;
      /** `next_cursor` of the page before, as it was. */
      cursor?: string;
    };
    body: null;
    answers: {
      200: DeliveryList;
    };
  };
  "POST /v1/deliveries/{id}/redeliver": {
    query: Record<string, never>;
    body: null;
    answers: {
      202: Delivery;
    };
  };
  "GET /v1/accounts": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: AccountList;
    };
  };
  "GET /v1/accounts/{id}": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Account;
    };
  };
  "POST /v1/accounts/{id}/pause": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Account;
    };
  };
  "POST /v1/accounts/{id}/drain": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Account;
    };
  };
  "POST /v1/accounts/{id}/resume": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Account;
    };
  };
  "GET /v1/stats": {
    query: Record<string, never>;
    body: null;
    answers: {
      200: Stats;
    };
  };
  "POST /v1/hooks/sume": {
    query: {
      /** The job that the create was made for. */
      job?: string;
    };
    body: {
      [name: string]: unknown;
    };
    answers: {
      202: HookAccepted;
    };
  };
}
