import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { drain } from '../../lib/drain.ts';
import { JobStoreError } from '../../lib/errors.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import { dynamoClient } from '../support/dynamo.ts';
import { allJobs, type Parts, remaining, startParts, strike, submitClip } from '../support/parts.ts';

/* What DynamoDB may do to a run, on real parts. Times pass thirty times as fast. */

let parts: Parts;
let throttle: Throttle | undefined;
afterEach(async () => {
  await throttle?.close();
  throttle = undefined;
  await parts.close();
});

const hour = 3_600_000;

interface Throttle {
  url: string;
  on: boolean;
  refused: number;
  close(): Promise<void>;
}

/** In front of the database: while it is on, every call is answered as DynamoDB answers when it throttles. */
async function startThrottle(target: string): Promise<Throttle> {
  const server: Server = createServer((incoming, outgoing) => {
    if (made.on) {
      made.refused++;
      incoming.resume();
      outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      outgoing.end('{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"Rate exceeded"}');
      return;
    }
    const { method, headers } = incoming;
    const onward = forward(target + incoming.url, { method, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made: Throttle = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on: false,
    refused: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return made;
}

test('DynamoDB throttles everything for three minutes while renders end: no end is lost, none is read early, none paid twice', async () => {
  parts = await startParts({ renderSeconds: 60, limits: { processing: 20 } });
  const { clock } = parts.ports;
  throttle = await startThrottle(parts.dynamo.url);
  const client = dynamoClient(throttle.url, 2, 500);
  parts.ports.store = new DynamoJobStore(client, 'pollkeeper-test', clock);
  for (let i = 0; i < 8; i++) await submitClip(parts, `clip-${i}`);
  const running = drain(parts.ports, parts.settings, remaining(parts, hour));
  await clock.sleep(30_000);
  throttle.on = true;
  await expect(submitClip(parts, 'meanwhile')).rejects.toThrow(JobStoreError);
  await clock.sleep(180_000);
  throttle.on = false;
  expect(throttle.refused).toBeGreaterThan(8);
  await submitClip(parts, 'meanwhile');
  await running;
  await drain(parts.ports, parts.settings, remaining(parts, hour));
  expect((await allJobs(parts)).map(({ state }) => state)).toEqual(Array(9).fill('completed'));
  // An end that could not be written down is asked for again, so reads after the end are right here.
  expect(parts.sume.report()).toMatchObject({ billedClips: 9, earlyReads: 0 });
  client.destroy();
});

test('a result of 600 KB does not hold its job: it is completed, and says that the document was left out', async () => {
  parts = await startParts({ renderSeconds: 20 });
  await submitClip(parts, 'long');
  const body = JSON.stringify({ data: { text: 'x'.repeat(600_000) } });
  await strike(parts, { kind: 'answer', route: 'result', body });
  await drain(parts.ports, parts.settings, remaining(parts, hour));
  const [job] = await allJobs(parts);
  expect(job).toMatchObject({ state: 'completed', result: { value: null, truncated: true } });
});
