/*
 * What `pollkeeper/client` is: everything that may be imported from it, and no more. It needs `fetch`, `crypto` and the other
 * globals that Node 20, browsers and edge runtimes share, and nothing else.
 */
export type {
  Account,
  AdoptAnswer,
  AdoptItem,
  Batch,
  BatchAnswer,
  BatchItem,
  Delivery,
  Endpoint,
  EndpointSecret,
  EventType,
  Health,
  Job,
  JobInput,
  JobState,
  JobSummary,
  JobWithOutlook,
  NewEndpoint,
  Stats,
  WebhookEvent,
  WebhookJob,
} from './answers.ts';
export { type CallOptions, type Client, type ClientOptions, createClient } from './client.ts';
export { PollkeeperError } from './error.ts';
export type { ListOptions, SharedOptions, SubmitOptions } from './job-calls.ts';
export { readWebhook } from './read-webhook.ts';
export { verifyWebhook, type WebhookHeaders, type WebhookRequest } from './verify-webhook.ts';
export type { WaitOptions } from './wait.ts';
