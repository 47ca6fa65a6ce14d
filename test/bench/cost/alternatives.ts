import { assumed, minutesPerMonth } from './assumptions.ts';
import type { CostFigures } from './cost-figures.ts';
import { type Month, monthOf } from './month.ts';
import type { Part } from './part.ts';
import { redisPart } from './redis-part.ts';
import { say } from './say.ts';

/** Another way of having the same renders polled at the same pace. Only the polling: the record and the API would come on top. */
export interface Alternative {
  name: string;
  /** What one buys besides the price, in a sentence. */
  note: string;
  parts(rendersPerDay: number, figures: CostFigures): Part[];
}

export const alternatives: readonly Alternative[] = [
  {
    name: 'Step Functions Standard, wait loop',
    note: 'Exactly one run of each step, up to a year, every render to be seen in the console.',
    parts: (rendersPerDay) => {
      const { renders, polls, pollsPerRender } = monthOf(rendersPerDay);
      const how = `${say(renders)} × (${say(pollsPerRender)} × 3 (Wait, Task, Choice) + 2 (create, end))`;
      const transitions = {
        what: 'transitions',
        price: 'stateTransition',
        quantity: polls * 3 + renders * 2,
        how,
      } as const;
      return [transitions, ...pollFunction(monthOf(rendersPerDay))];
    },
  },
  {
    name: 'Step Functions Express, wait loop',
    note: 'A run ends after five minutes, done or not, and may be run twice: only for renders that are surely shorter.',
    parts: (rendersPerDay) => {
      const month = monthOf(rendersPerDay);
      const time = month.renders * assumed.renderSeconds * assumed.expressMemoryGb;
      const how = `${say(month.renders)} × ${assumed.renderSeconds} s × ${assumed.expressMemoryGb} GB`;
      return [
        { what: 'runs', price: 'expressRequest', quantity: month.renders, how: say(month.renders) },
        { what: 'time of the runs', price: 'expressTime', quantity: time, how },
        ...pollFunction(month),
      ];
    },
  },
  {
    name: 'Lambda durable functions',
    note: 'Ordinary code with waits in it; at most 3,000 operations a render. What is kept of ended runs is not counted here.',
    parts: (rendersPerDay) => {
      const month = monthOf(rendersPerDay);
      const operations = month.polls * 2 + month.renders * 2;
      const how = `${say(month.renders)} × (${say(month.pollsPerRender)} × 2 (step, wait) + 2 (start, create))`;
      const written = (operations * assumed.durableKbPerOperation) / 1024 ** 2;
      const perOperation = `${say(operations)} × ${assumed.durableKbPerOperation} KB`;
      return [
        { what: 'operations', price: 'durableOperation', quantity: operations, how },
        { what: 'data written', price: 'durableData', quantity: written, how: perOperation },
        ...pollFunction(month),
      ];
    },
  },
  {
    name: 'QStash + Lambda',
    note: 'Nothing to run; a retry is one more message by its documentation, though its price page calls retries free.',
    parts: perPoll('messages', 'qstashMessage'),
  },
  {
    name: 'EventBridge Scheduler + Lambda',
    note: 'Keeps to the minute, not to the second: a hint of 15 s is read up to a minute late. One schedule has to be made for each poll.',
    parts: perPoll('invocations', 'scheduled'),
  },
  {
    name: 'SQS + Lambda',
    note: 'Waits of up to 15 minutes; a message may come twice; no look into what waits, no early poll, no sweep.',
    parts: (rendersPerDay) => {
      const month = monthOf(rendersPerDay);
      const empty = minutesPerMonth * assumed.emptyReceivesPerMinute;
      const requests = (month.polls + month.renders) * 3;
      const how =
        `${say(month.renders)} × (${say(month.pollsPerRender)} + 1) × 3 (send, receive, delete) ` +
        `+ ${say(minutesPerMonth)} min × ${assumed.emptyReceivesPerMinute} empty receives`;
      return [{ what: 'requests', price: 'sqsRequest', quantity: requests + empty, how }, ...pollFunction(month)];
    },
  },
  {
    name: 'Always-on worker: BullMQ on Fargate, its Redis at Upstash',
    note: 'One task, restarted when it dies; it has to be patched, watched and sized by hand. A small EC2 instance may cost less (not priced here: no source at hand).',
    parts: workerParts,
  },
];

/** One of these for each poll and for the create, and the function that it runs. */
function perPoll(what: string, price: Part['price']): (rendersPerDay: number) => Part[] {
  return (rendersPerDay) => {
    const month = monthOf(rendersPerDay);
    const how = `${say(month.renders)} × (${say(month.pollsPerRender)} + 1 for the create)`;
    return [{ what, price, quantity: month.polls + month.renders, how }, ...pollFunction(month)];
  };
}

/** The function that reads a status once, for each poll and for the create. */
function pollFunction({ renders, polls, pollsPerRender }: Month): Part[] {
  const runs = polls + renders;
  const { pollRunSeconds, pollMemoryGb } = assumed;
  const each = `${say(renders)} × (${say(pollsPerRender)} + 1)`;
  return [
    { what: 'Lambda, requests', price: 'lambdaRequest', quantity: runs, how: each },
    {
      what: 'Lambda, time',
      price: 'lambdaTime',
      quantity: runs * pollRunSeconds * pollMemoryGb,
      how: `${each} × ${pollRunSeconds} s × ${pollMemoryGb} GB`,
    },
  ];
}

function workerParts(rendersPerDay: number, { bullmq }: CostFigures): Part[] {
  const { polls } = monthOf(rendersPerDay);
  const hours = minutesPerMonth / 60;
  const { vcpu, memoryGb } = assumed.worker;
  const commands = polls * bullmq.redisCommandsPerPoll + hours * bullmq.redisCommandsPerHourIdle;
  const how =
    `${say(polls)} polls × ${say(bullmq.redisCommandsPerPoll)} + ${say(hours)} h × ${say(bullmq.redisCommandsPerHourIdle)} idle ` +
    `= ${say(commands)} commands`;
  return [
    { what: 'processor', price: 'fargateCpu', quantity: hours * vcpu, how: `${say(hours)} h × ${vcpu} vCPU` },
    { what: 'memory', price: 'fargateMemory', quantity: hours * memoryGb, how: `${say(hours)} h × ${memoryGb} GB` },
    { what: 'address', price: 'publicAddress', quantity: hours, how: `${say(hours)} h` },
    redisPart('Redis', commands, how),
  ];
}
