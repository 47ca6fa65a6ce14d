import { shardCount } from '../../../lib/job-store/job-item.ts';
import { assumed, minutesPerMonth, sweepsPerMonth } from './assumptions.ts';
import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';
import { type DrainMonth, drainMonthOf, wakeOverlapSeconds } from './month.ts';
import type { Part } from './part.ts';
import { redisPart } from './redis-part.ts';
import { say, sayPercent } from './say.ts';

/** A month's bill, in the order in which one meets it. `polling` alone is what the other solutions are compared with. */
export interface PollkeeperBill {
  month: DrainMonth;
  polling: Part[];
  record: Part[];
  api: Part[];
  watching: Part[];
}

export function allParts({ polling, record, api, watching }: PollkeeperBill): Part[] {
  return [...polling, ...record, ...api, ...watching];
}

export function pollkeeperBill(rendersPerDay: number, figures: CostFigures, deployed: Deployed): PollkeeperBill {
  const month = drainMonthOf(rendersPerDay, figures, deployed);
  return {
    month,
    polling: [...drainParts(month, deployed), ...sweepParts(deployed), commandsPart(month)],
    record: recordParts(month, figures),
    api: apiParts(month, deployed),
    watching: watchingParts(month, deployed),
  };
}

function commandsPart(month: DrainMonth): Part {
  const { drainSeconds, commandsPerSecond, idleRuns, idleCommandsPerRun, sweepCommands, submitCommands } = month;
  const how =
    `${say(drainSeconds)} s of drains × ${say(commandsPerSecond)} + ${say(idleRuns)} runs with nothing due × ${say(idleCommandsPerRun)} ` +
    `+ ${say(sweepCommands)} by sweeps + ${say(submitCommands)} by submits = ${say(month.commands)} commands`;
  return redisPart('polling: Redis', month.commands, how);
}

function drainParts(month: DrainMonth, { memoryGb, windowSeconds }: Deployed): Part[] {
  const { awakeShare, wakes, drainSeconds, idleRuns, runs } = month;
  const seconds = drainSeconds + idleRuns * assumed.idleRunSeconds;
  return [
    {
      what: 'polling: drain, requests',
      price: 'lambdaRequest',
      quantity: runs,
      how: `${say(minutesPerMonth)} of the schedule + ${say(wakes)} woken by a submit`,
    },
    {
      what: 'polling: drain, time',
      price: 'lambdaTime',
      quantity: seconds * memoryGb.drain,
      how:
        `(${say(minutesPerMonth * 60)} s × ${sayPercent(awakeShare)} awake × ${windowSeconds} / 60 + ${say(wakes)} × ${wakeOverlapSeconds} s ` +
        `+ ${say(idleRuns)} × ${assumed.idleRunSeconds} s) × ${memoryGb.drain} GB`,
    },
    {
      what: 'polling: schedule',
      price: 'scheduledRule',
      quantity: minutesPerMonth + sweepsPerMonth,
      how: `${say(minutesPerMonth)} drains + ${say(sweepsPerMonth)} sweeps`,
    },
  ];
}

function sweepParts({ memoryGb }: Deployed): Part[] {
  const time = sweepsPerMonth * assumed.sweepRunSeconds * memoryGb.sweep;
  return [
    {
      what: 'polling: sweep, requests',
      price: 'lambdaRequest',
      quantity: sweepsPerMonth,
      how: `${say(minutesPerMonth)} / 5`,
    },
    {
      what: 'polling: sweep, time',
      price: 'lambdaTime',
      quantity: time,
      how: `${say(sweepsPerMonth)} × ${assumed.sweepRunSeconds} s × ${memoryGb.sweep} GB`,
    },
  ];
}

function recordParts({ renders }: DrainMonth, { life }: CostFigures): Part[] {
  const { recordKb, endedRecordKb, indexWrites, renderSeconds, apiRequestsPerRender, retentionDays } = assumed;
  const writes = (life.dynamoWrites - 1) * recordKb + endedRecordKb + indexWrites;
  const laterRuns = renderSeconds / 60;
  const clientReads = apiRequestsPerRender - 1;
  const reads = life.dynamoReads + laterRuns + clientReads;
  // Each shard is read from some place on to its end, and then from its beginning to there.
  const sweepReads = sweepsPerMonth * shardCount * 2 * 0.5;
  const keptGb = (renders * (retentionDays / 30) * endedRecordKb) / 1024 ** 2;
  return [
    {
      what: 'record: writes',
      price: 'dynamoWrite',
      quantity: renders * writes,
      how: `${say(renders)} × (${say(life.dynamoWrites - 1)} × ${recordKb} KB + ${endedRecordKb} KB + ${indexWrites} in the indexes)`,
    },
    {
      what: 'record: reads',
      price: 'dynamoRead',
      quantity: renders * reads + sweepReads,
      how:
        `${say(renders)} × (${say(life.dynamoReads)} in its first run + ${say(laterRuns)} in later ones + ${clientReads} by the client) ` +
        `+ ${say(sweepsPerMonth)} sweeps × ${shardCount} shards × 2 pages × 0.5`,
    },
    {
      what: 'record: storage',
      price: 'dynamoStorage',
      quantity: keptGb,
      how: `${say(renders)} × ${endedRecordKb} KB, kept ${retentionDays} days`,
    },
    { what: 'record: point-in-time recovery', price: 'dynamoBackup', quantity: keptGb, how: 'the same' },
  ];
}

function apiParts({ renders }: DrainMonth, { memoryGb }: Deployed): Part[] {
  const { apiRequestsPerRender, apiRunSeconds, authorizeRunSeconds } = assumed;
  const requests = renders * apiRequestsPerRender;
  const perRequest = `${say(renders)} × ${apiRequestsPerRender}`;
  return [
    { what: 'API: gateway', price: 'apiRequest', quantity: requests, how: perRequest },
    {
      what: 'API: functions, requests',
      price: 'lambdaRequest',
      quantity: requests * 2,
      how: `${perRequest} × 2 (authorize and api)`,
    },
    {
      what: 'API: functions, time',
      price: 'lambdaTime',
      quantity: requests * (apiRunSeconds * memoryGb.api + authorizeRunSeconds * memoryGb.authorize),
      how: `${perRequest} × (${apiRunSeconds} s × ${memoryGb.api} GB + ${authorizeRunSeconds} s × ${memoryGb.authorize} GB)`,
    },
  ];
}

function watchingParts({ renders, runs }: DrainMonth, { alarms }: Deployed): Part[] {
  const logged = runs + sweepsPerMonth + renders * assumed.apiRequestsPerRender * 2;
  return [
    { what: 'watching: alarms', price: 'alarm', quantity: alarms, how: say(alarms) },
    { what: 'watching: metrics', price: 'metric', quantity: assumed.metrics, how: say(assumed.metrics) },
    {
      what: 'watching: log lines',
      price: 'logData',
      quantity: (logged * assumed.logKbPerRun) / 1024 ** 2,
      how: `${say(logged)} runs of functions × ${assumed.logKbPerRun} KB`,
    },
  ];
}
