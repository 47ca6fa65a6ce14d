import { createHash, createHmac } from 'node:crypto';
import { statusBody } from '../api/job-body.ts';
import type { Job } from '../job.ts';

/** What a job's end is told with: the same for every attempt, but for the time and the signature over it. */
export type Webhook = { readonly eventId: string; readonly body: string };

/** One for each job and terminal state, however often it is sent. */
export function webhookOf(job: Job): Webhook {
  const digest = createHash('sha256').update(`${job.id}\n${job.state}`).digest('hex');
  const eventId = `evt_${digest.slice(0, 24)}`;
  const { data } = JSON.parse(statusBody('old', job, null)) as { data: unknown };
  const created = new Date(job.endedAtMs ?? job.createdAtMs).toISOString();
  return { eventId, body: JSON.stringify({ id: eventId, type: `job.${job.state}`, created_at: created, data }) };
}

/** The headers of one attempt. The signature is HMAC-SHA256 of `timestamp.body`; a wrong one is of the right form. */
export function signedHeaders(
  { eventId, body }: Webhook,
  given: { secret: string; nowMs: number; isWrong: boolean },
): Record<string, string> {
  const timestamp = String(Math.floor(given.nowMs / 1000));
  const secret = given.isWrong ? `not ${given.secret}` : given.secret;
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Sume-Simulator-Webhooks/1',
    'X-Sume-Event-Id': eventId,
    'X-Sume-Timestamp': timestamp,
    'X-Sume-Signature': `v1=${digest}`,
  };
}
