import type { BatchEvent, EventJob, JobEvent, Operations } from './api.gen.ts';

export type { EventType, JobState } from './api.gen.ts';

/* The API's own shapes, as the OpenAPI document has them: snake_case, ISO 8601 times, null for what is not there. */

type Route = keyof Operations;
export type Body<Name extends Route> = Operations[Name]['body'];
type Answer<
  Name extends Route,
  Status extends keyof Operations[Name]['answers'] = keyof Operations[Name]['answers'],
> = Operations[Name]['answers'][Status];

export type Job = Answer<'POST /v1/jobs', 202>;
/** A job, with what it waits for and when it may be done. */
export type JobWithOutlook = Answer<'GET /v1/jobs/{id}', 200>;
/** A job without what may be large. */
export type JobSummary = Answer<'GET /v1/jobs', 200>['jobs'][number];
/** What is to be rendered; it goes to the provider as it is. */
export type JobInput = Body<'POST /v1/jobs'>['input'];
export type BatchItem = Body<'POST /v1/jobs/batch'>['items'][number];
export type BatchAnswer = Answer<'POST /v1/jobs/batch', 200>;
export type AdoptItem = Body<'POST /v1/jobs/adopt'>['items'][number];
export type AdoptAnswer = Answer<'POST /v1/jobs/adopt', 200>;
export type Batch = Answer<'GET /v1/batches/{name}', 200>;
export type Delivery = Answer<'GET /v1/jobs/{id}/deliveries', 200>['deliveries'][number];
export type Endpoint = Answer<'GET /v1/endpoints/{id}', 200>;
/** With its secret, which is told once. */
export type NewEndpoint = Answer<'POST /v1/endpoints', 201>;
export type EndpointSecret = Answer<'GET /v1/endpoints/{id}/secret', 200>;
export type Account = Answer<'GET /v1/accounts/{id}', 200>;
export type Stats = Answer<'GET /v1/stats', 200>;
export type Health = Answer<'GET /health', 200>;
/** A job as it was at an event. What would make the message too large is null: read the job by its link then. */
export type WebhookJob = EventJob;
/** What a webhook brings, and the id that is the same in every delivery of it: whoever has seen that may ignore it. */
export type WebhookEvent = (JobEvent | BatchEvent) & { id: string };
