import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { deliveryIdFor, endpointIdFor, eventIdFor, jobIdFor } from '../../lib/identify.ts';
import { type Job, jobStates } from '../../lib/job.ts';
import { DynamoDeliveries } from '../../lib/job-store/dynamo-deliveries.ts';
import { DynamoEndpoints } from '../../lib/job-store/dynamo-endpoints.ts';
import { type Delivery, deliveryStates } from '../../lib/webhooks/delivery.ts';
import { newSecret } from '../../lib/webhooks/sign.ts';
import { putJobs, testClock, testJob, testNowMs } from '../support/dynamo.ts';

/* What is in the table before the first request: without it, most routes would only ever say that there is nothing. */

const owners = ['acme', 'globex'];
const url = 'https://93.184.215.14/hook';
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

/** Jobs of both owners in every state, an endpoint each, and deliveries of ended jobs to it. Resolves with all their ids. */
export async function putFirstThings(client: DynamoDBClient, table: string): Promise<string[]> {
  const jobs = owners.flatMap((owner) =>
    jobStates.map((state) => testJob({ id: jobIdFor(owner, `there-${state}`), owner, state })),
  );
  await putJobs(client, table, jobs.map(withEvent));
  const endpoints = new DynamoEndpoints(client, table, testClock(), quiet);
  const deliveries = new DynamoDeliveries(client, table, testClock(), quiet);
  for (const owner of owners) await endpoints.create(endpointOf(owner));
  const made = jobs.filter(({ state }) => state === 'completed').flatMap(deliveriesOf);
  for (const delivery of made) await deliveries.create(delivery);
  return [...jobs, ...made, ...owners.map(endpointOf)].map(({ id }) => id);
}

function withEvent(job: Job): Job {
  if (job.state !== 'completed') return job;
  const type = 'job.completed';
  const made = deliveriesOf(job).map(({ id }) => id);
  return { ...job, events: [{ id: eventIdFor(job.id, type), type, atMs: testNowMs, deliveries: made }] };
}

/** One in each state, as if each had gone to an endpoint of its own. */
function deliveriesOf({ id: subjectId, owner }: Job): Delivery[] {
  const type = 'job.completed';
  return deliveryStates.map((state, at) => {
    const endpointId = endpointIdFor(owner, at === 0 ? url : `${url}/${at}`);
    const eventId = eventIdFor(subjectId, type);
    return {
      ...{
        id: deliveryIdFor(eventId, endpointId),
        owner,
        subjectId,
        eventId,
        type,
        endpointId,
        state,
        body: '{}',
        log: [],
      },
      ...{ attempts: 0, nextAtMs: testNowMs, createdAtMs: testNowMs, updatedAtMs: testNowMs, revision: 1 },
      ...(state === 'pending' ? {} : { endedAtMs: testNowMs }),
    };
  });
}

function endpointOf(owner: string) {
  const secret = newSecret((bytes) => Buffer.alloc(bytes, 7));
  return {
    ...{ id: endpointIdFor(owner, url), owner, kind: 'registered' as const, url, events: null, description: '' },
    ...{ state: 'enabled' as const, secrets: [{ secret, createdAtMs: testNowMs }], revision: 1 },
    ...{ createdAtMs: testNowMs, updatedAtMs: testNowMs },
  };
}
