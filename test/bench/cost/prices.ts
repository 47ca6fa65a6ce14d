/*
 * What the services charge. Every price has the page where it was read, and the day of that page or of the copy that was read.
 * List prices for us-east-1, without taxes. After a change here: `npm run generate`.
 */

export interface Price {
  what: string;
  dollars: number;
  /** For so many units. */
  per: number;
  /** One of them, or where a million is meant, several. */
  unit: string;
  /** Units a month that are free for good; `whole`: only as long as no more than these are used. */
  free?: { units: number; whole?: true };
  source: string;
  /** ISO date. */
  seen: string;
  standing: Standing;
}

/** `seller`: read on the seller's own page. `second-hand`: quoted by others. `unconfirmed`: an old copy, or nobody says it plainly. */
type Standing = 'seller' | 'second-hand' | 'unconfirmed';
type Origin = Pick<Price, 'source' | 'seen' | 'standing'>;

const million = 1_000_000;
const daysPerMonth = 30;
const apiPage =
  'https://github.com/api-evangelist/amazon-web-services/blob/main/plans/amazon-web-services-plans-pricing.yml';
const durablePage = 'https://github.com/api-evangelist/aws-lambda/blob/main/plans/aws-lambda-plans-pricing.yml';
const logPage = 'https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/';
const addressPage = 'https://vishalvyas.com/understand-aws-public-ipv4-address-usage-and-pricing/';

const upstashRedis = seller('https://github.com/upstash/docs/blob/main/redis/overall/billing.mdx', '2026-08-21');
const upstashQueue = seller('https://upstash.com/pricing/qstash.md', '2026-11-29');
const stepFunctions = seller('https://aws.amazon.com/step-functions/pricing/', '2026-11-29');
const express = quoted('https://www.wring.co/blog/aws-step-functions-pricing-guide', '2026-03-14');
const lambda = quoted('https://cloudchipr.com/blog/aws-lambda-pricing', '2026-11-29');
const durable = quoted(durablePage, '2026-09-20');
const scheduler = quoted('https://cloudburn.io/blog/amazon-eventbridge-pricing', '2026-11-29');
const queue = quoted('https://cloudburn.io/blog/amazon-sqs-pricing', '2026-11-29');
const fargate = quoted('https://www.vantage.sh/blog/fargate-pricing', '2026-11-30');
const address = quoted(addressPage, '2026-11-30');
const dynamo = quoted('https://airbyte.com/data-engineering-resources/dynamodb-pricing', '2026-11-29');
const dynamoSpace = unconfirmed('https://aws.amazon.com/dynamodb/pricing/', '2026-11-30');
const apiGateway = quoted(apiPage, '2026-09-20');
const rules = unconfirmed('https://aws.amazon.com/eventbridge/pricing/', '2026-11-30');
const cloudWatch = quoted('https://signoz.io/guides/cloudwatch-pricing', '2026-02-15');
const logs = quoted(logPage, '2026-06-13');

export const prices = {
  redisCommand: perMillion('Upstash Redis command, pay as you go', 2, 'commands', upstashRedis, plan(500_000)),
  redisFixed: each('Upstash Redis, fixed plan of 250 MB: commands are not counted', 10, 'month', upstashRedis),
  qstashMessage: perMillion('QStash message, pay as you go', 10, 'messages', upstashQueue, plan(1_000 * daysPerMonth)),
  lambdaRequest: perMillion('Lambda request', 0.2, 'requests', lambda, first(million)),
  lambdaTime: perMillion('Lambda time, arm64', 13.3334, 'GB-s', lambda, first(400_000)),
  durableOperation: perMillion('Lambda durable operation', 8, 'operations', durable),
  durableData: each('Lambda durable data written', 0.25, 'GB', durable),
  stateTransition: perMillion('Step Functions Standard, transition', 25, 'transitions', stepFunctions, first(4_000)),
  expressRequest: perMillion('Step Functions Express, request', 1, 'requests', express),
  expressTime: perMillion('Step Functions Express, time', 16.67, 'GB-s', express),
  scheduled: perMillion('EventBridge Scheduler invocation', 1, 'invocations', scheduler, first(14 * million)),
  sqsRequest: perMillion('SQS standard request, up to 64 KB', 0.4, 'requests', queue, first(million)),
  fargateCpu: each('Fargate, Linux on ARM, processor', 0.03238, 'vCPU-hour', fargate),
  fargateMemory: each('Fargate, Linux on ARM, memory', 0.00356, 'GB-hour', fargate),
  publicAddress: each('Public IPv4 address', 0.005, 'hour', address),
  dynamoWrite: perMillion('DynamoDB on demand, write of 1 KB', 0.625, 'writes', dynamo),
  dynamoRead: perMillion('DynamoDB on demand, read of 4 KB', 0.125, 'reads', dynamo),
  dynamoStorage: each('DynamoDB storage', 0.25, 'GB-month', dynamoSpace, first(25)),
  dynamoBackup: each('DynamoDB point-in-time recovery', 0.2, 'GB-month', dynamoSpace),
  apiRequest: perMillion('API Gateway, HTTP API request', 1, 'requests', apiGateway),
  scheduledRule: each('EventBridge scheduled rule, run', 0, 'run', rules),
  alarm: each('CloudWatch alarm', 0.1, 'alarm', cloudWatch, first(10)),
  metric: each('CloudWatch metric of one’s own', 0.3, 'metric', cloudWatch, first(10)),
  logData: each('CloudWatch log lines', 0.5, 'GB', logs, first(5)),
} satisfies Record<string, Price>;
export type PriceName = keyof typeof prices;

function seller(source: string, seen: string): Origin {
  return { source, seen, standing: 'seller' };
}

function quoted(source: string, seen: string): Origin {
  return { source, seen, standing: 'second-hand' };
}

function unconfirmed(source: string, seen: string): Origin {
  return { source, seen, standing: 'unconfirmed' };
}

function perMillion(what: string, dollars: number, unit: string, origin: Origin, free?: Price['free']): Price {
  return { what, dollars, per: million, unit, ...origin, ...(free && { free }) };
}

function each(what: string, dollars: number, unit: string, origin: Origin, free?: Price['free']): Price {
  return { what, dollars, per: 1, unit, ...origin, ...(free && { free }) };
}

/** The first units of every month. */
function first(units: number): Price['free'] {
  return { units };
}

/** A free plan: beyond its units everything is billed, or refused. */
function plan(units: number): Price['free'] {
  return { units, whole: true };
}
