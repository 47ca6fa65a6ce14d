import { assumed } from './assumptions.ts';
import { type RedisPlans, redisPlans } from './break-even.ts';
import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';
import { list, textTable } from './markdown.ts';
import { type Price, prices } from './prices.ts';
import { say, sayAbout, sayDollars, sayPrice } from './say.ts';

export function plansSection(figures: CostFigures, deployed: Deployed): string {
  const plans = redisPlans(figures, deployed);
  const { redisCommand, redisFixed } = prices;
  const mostDollars = (plans.mostCommands / redisCommand.per) * redisCommand.dollars;
  const rows = [
    ['Free', `up to ${say(plans.freeCommands)}`, `up to about ${sayAbout(plans.freeRendersPerDay)}`, '$0'],
    ['Pay as you go', ...payAsYouGo(plans), `$${redisCommand.dollars} a million`],
    [
      'Fixed, 250 MB',
      `from ${say(plans.fixedCommands)}`,
      `from about ${sayAbout(plans.fixedRendersPerDay)}`,
      `${sayDollars(redisFixed.dollars)}`,
    ],
  ];
  return `## Which Upstash plan

${textTable(['plan', 'commands a month', 'renders a day', 'a month'], rows)}

The fixed plan is cheaper from ${sayDollars(redisFixed.dollars)} / ($${redisCommand.dollars} per million) = ${say(plans.fixedCommands)} commands a month on. A drain
that never sleeps needs about ${sayAbout(plans.mostCommands)}, ${sayDollars(mostDollars)} at pay as you go, however many renders there are: whoever has
jobs under way most of the day takes the fixed plan. With renders that take twice as long, each border
lies at about half the number.

- When the free plan’s commands are used up, Redis refuses every further one, and the polling stops until the month is over;
  submits are still taken and kept. It also has no replica. Good for a trial, and for a handful of renders a day.
- Pay as you go never stops, unless a budget is set on it. While a drain falls behind it needs more, and each helper as much again.
- 250 MB hold about two million ids at 118 bytes each (\`npm run bench -- growth\`): size is no reason for a larger plan. Bandwidth is not computed here.
- Eviction off, a single region: each further region multiplies the price of every write.`;
}

function payAsYouGo({ freeCommands, fixedCommands, freeRendersPerDay, fixedRendersPerDay }: RedisPlans): string[] {
  return [
    `${say(freeCommands)} to ${say(fixedCommands)}`,
    `about ${sayAbout(freeRendersPerDay)} to ${sayAbout(fixedRendersPerDay)}`,
  ];
}

export function assumptionsSection({ memoryGb, windowSeconds, alarms }: Deployed): string {
  const { renderSeconds, hintSeconds, worker } = assumed;
  const items = [
    `A render takes ${renderSeconds} s, and the provider asks to be read every ${hintSeconds} s: ${say(renderSeconds / hintSeconds)} polls a render. Renders come at random over the whole day; in bursts they cost less, because a drain sleeps longer.`,
    `The provider allows it. Sume’s known limit is 10,000 reads a day for a key, which is ${say((10_000 * hintSeconds) / renderSeconds)} such renders: beyond that it takes more keys, or a longer hint.`,
    `A client makes ${assumed.apiRequestsPerRender} API requests a render: the submit, and one read when it is done. Each further one costs as much again of the API’s lines.`,
    `On Lambda: ${memoryGb.drain * 1024} MB for the drain and its window of ${windowSeconds} s a minute (from serverless.yml and the settings’ defaults); ${assumed.idleRunSeconds} s for a run with nothing due, ${assumed.sweepRunSeconds} s for a sweep, ${assumed.apiRunSeconds} s for an API request and ${assumed.authorizeRunSeconds} s for its authorizer, all estimates. Cold starts are not counted.`,
    `A record of up to ${assumed.recordKb} KB until it ends, ${assumed.endedRecordKb} KB with its result, kept ${assumed.retentionDays} days. Entries in the two indexes are written ${assumed.indexWrites} times: by owner at the accept and at each of 4 new states, active put and deleted. Each later run of the drain (one a minute) reads the record once.`,
    `${alarms} alarms (infra/alarms.yml), ${assumed.metrics} metrics, ${assumed.logKbPerRun} KB of log lines for a run of any function.`,
    `The other solutions read a status in a function of ${assumed.pollMemoryGb * 1024} MB that takes ${assumed.pollRunSeconds} s, one invocation for each poll and one for the create. An SQS trigger makes ${assumed.emptyReceivesPerMinute} empty receives a minute (five long polls of 20 s; not confirmed). The worker is one task of ${worker.vcpu} vCPU and ${worker.memoryGb} GB.`,
    `A drain works for its whole window while anything is due in it, so ${say(windowSeconds)} s of drain for each minute awake; in truth it leaves a little sooner. Its seconds are computed, not measured.`,
    'Nobody listens to events. The function that delivers them is then one more run a minute with nothing due, like a drain’s, which is not counted here. [What an event costs](events.md#what-it-costs) beside it, in writes and commands.',
    'Nothing goes wrong: no retries, no helpers, no second region. Data transfer is not counted, nor taxes, nor anybody’s time.',
  ];
  return `## What is assumed\n\n${list(items)}`;
}

export function measuredSection({ taken, machine, steady, light, idle, life, bullmq }: CostFigures): string {
  const rows = [
    [
      'steady: Redis commands a poll',
      say(steady.redisCommandsPerPoll),
      `S1, ${say(steady.jobs)} jobs, ${say(steady.readsPerSecond)} polls a second`,
    ],
    ['steady: round trips a poll', say(steady.redisRoundTripsPerPoll), 'S1'],
    ['steady: CPU seconds per 1,000 polls', say(steady.cpuSecondsPer1000Polls), 'S1'],
    ['steady: DynamoDB reads a poll', say(steady.dynamoReadsPerPoll), 'S1, one read of each job’s record'],
    [
      'awake for one job: Redis commands a second',
      say(light.redisCommandsPerSecond),
      `light, ${say(light.readsPerSecond)} polls a second`,
    ],
    ['awake for one job: round trips a second', say(light.redisRoundTripsPerSecond), 'light, one a tick'],
    ['awake for one job: CPU ms a second', say(light.cpuMsPerSecond), 'light'],
    [
      'idle: Redis commands an hour',
      say(idle.redisCommandsPerHour),
      `S4; ${say(idle.redisCommandsPerHour * 730)} a month`,
    ],
    ['idle: CPU seconds an hour', say(idle.cpuSecondsPerHour), 'S4'],
    ['a job’s life: DynamoDB writes', say(life.dynamoWrites), `life, ${say(life.jobs)} jobs`],
    ['a job’s life: DynamoDB reads in one run', say(life.dynamoReads), 'life'],
    ['a submit: Redis commands', say(life.redisCommandsPerSubmit), 'life'],
    ['BullMQ: Redis commands a poll', say(bullmq.redisCommandsPerPoll), 'S1'],
    ['BullMQ, idle: Redis commands an hour', say(bullmq.redisCommandsPerHourIdle), 'S4'],
  ];
  return `## What was measured

With \`npm run bench\` on ${taken} (${machine}); commands inside scripts are counted, as Upstash
[bills them](https://github.com/upstash/docs/blob/main/redis/sdks/ratelimit-ts/costs.mdx).

${textTable(['', 'count', 'where'], rows)}`;
}

export function pricesSection(): string {
  const all: readonly Price[] = Object.values(prices);
  const rows = all.map((price) => [
    price.what,
    sayPrice(price),
    price.free === undefined ? '–' : `${say(price.free.units)}${price.free.whole ? ' or fewer' : ''}`,
    `[${new URL(price.source).hostname}](${price.source}), ${price.seen}`,
    price.standing,
  ]);
  return `## Prices

*Seller*: read on the seller’s own page. *Second-hand*: quoted by somebody else. *Unconfirmed*: from an old copy, or said plainly
nowhere. Look at the seller’s page before you rely on any of them.

${textTable(['', 'price', 'free a month', 'source, and its day', 'standing'], rows)}`;
}
