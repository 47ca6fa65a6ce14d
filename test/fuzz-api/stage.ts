import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestDynamo, type TestDynamo } from '../support/dynamo.ts';
import { startTestUpstash, type TestUpstash } from '../support/upstash.ts';
import type { GivenAnswer } from './answer-check.ts';
import { apiTokens, tokenSecrets } from './callers.ts';
import { DynamoWatch } from './dynamo-watch.ts';
import { putFirstThings } from './first-things.ts';
import { gatewayEvent, type SentRequest } from './gateway-event.ts';
import { RedisWatch } from './redis-watch.ts';

const hookSecret = 'whook_0123456789abcdef';
const credential = 'local';

/** The API's own handlers over real stores, all in this process. One at a time: it sets the environment. */
export interface Stage {
  /** What the authorizer says of the request, and then the API. Rejects when one of them throws. */
  answer(request: SentRequest): Promise<GivenAnswer>;
  /** What has been written to the stores since the last call, but for the counting of requests. */
  writes(): Promise<string[]>;
  /** Of what is there from the beginning. */
  firstIds: readonly string[];
  /** With which the provider signs. */
  hookSecret: string;
  /** What may stand in no answer. */
  secrets: readonly string[];
  close(): Promise<void>;
}

export async function startStage(): Promise<Stage> {
  const [upstash, dynamo, lambda] = await Promise.all([startTestUpstash(), startTestDynamo(), startLambda()]);
  const table = await dynamo.createTable();
  const firstIds = await putFirstThings(dynamo.client, table);
  Object.assign(process.env, environmentOf(upstash, dynamo, table, lambda.url));
  // Only now: the authorizer reads its environment when it is loaded.
  const authorize = await import('../../functions/authorize.ts');
  const api = await import('../../functions/api.ts');
  const redis = await RedisWatch.start(upstash);
  const database = new DynamoWatch();
  return {
    async answer(request) {
      const { context } = await authorize.handler({ headers: { ...request.headers } });
      const event = gatewayEvent(request, context);
      return (await api.handler(event as never, lambdaContext as never)) as unknown as GivenAnswer;
    },
    async writes() {
      const inRedis = (await redis.writes()).filter((write) => !write.includes(':requests:'));
      return [...database.writes(), ...inRedis];
    },
    firstIds,
    hookSecret,
    secrets: [...tokenSecrets, upstash.token, hookSecret],
    async close() {
      redis.close();
      database.close();
      await Promise.all([upstash.close(), dynamo.close(), lambda.close()]);
    },
  };
}

const lambdaContext = { awsRequestId: 'fuzz', getRemainingTimeInMillis: () => 15_000 };

function environmentOf(
  upstash: TestUpstash,
  dynamo: TestDynamo,
  table: string,
  lambdaUrl: string,
): Record<string, string> {
  const unlimited = {
    maxInFlight: null,
    readsPerMinute: null,
    readsPerDay: null,
    createsPerMinute: null,
    createsPerDay: null,
  };
  return {
    ...{ STAGE: 'fuzz', TABLE_NAME: table, DYNAMODB_ENDPOINT: dynamo.url, LAMBDA_ENDPOINT: lambdaUrl },
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: credential, AWS_SECRET_ACCESS_KEY: credential },
    ...{ UPSTASH_REDIS_REST_URL: upstash.url, UPSTASH_REDIS_REST_TOKEN: upstash.token },
    ...{ API_TOKENS: apiTokens, API_REQUESTS_PER_MINUTE: '1000000' },
    ...{ PUBLIC_URL: 'https://api.example', SUME_WEBHOOK_SECRET: hookSecret },
    ACCOUNTS: JSON.stringify([
      { id: 'sume', ...unlimited },
      { id: 'studio', secret: 'sume-api-key-studio', owners: ['acme'], operators: ['globex'] },
      { id: 'theirs', secret: 'sume-api-key-theirs', owners: ['globex'] },
    ]),
  };
}

/** A Lambda that takes every event, and does nothing. */
async function startLambda(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(202).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
