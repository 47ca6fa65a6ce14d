import { alternatives } from './alternatives.ts';
import { volumes } from './assumptions.ts';
import { type Range, rangesWhere } from './break-even.ts';
import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';
import { assumptionsSection, measuredSection, plansSection, pricesSection } from './document-basis.ts';
import { formulasSection } from './document-formulas.ts';
import { table, textTable } from './markdown.ts';
import { monthOf } from './month.ts';
import { billedDollars, listDollars, type Part } from './part.ts';
import { allParts, pollkeeperBill } from './pollkeeper.ts';
import { prices } from './prices.ts';
import { say, sayAbout, sayDollars, sayPrice } from './say.ts';

/** One way of doing it, as a function of renders a day. */
interface Way {
  name: string;
  parts: (rendersPerDay: number) => Part[];
}

/** docs/cost.md as a whole: the same figures and prices always give the same text. */
export function costDocument(figures: CostFigures, deployed: Deployed): string {
  const bill = (rendersPerDay: number) => pollkeeperBill(rendersPerDay, figures, deployed);
  const ways: Way[] = [
    { name: '**Pollkeeper**, all of it', parts: (rendersPerDay) => allParts(bill(rendersPerDay)) },
    { name: '**Pollkeeper**, its polling alone', parts: (rendersPerDay) => bill(rendersPerDay).polling },
    ...alternatives.map(({ name, parts }) => ({
      name,
      parts: (rendersPerDay: number) => parts(rendersPerDay, figures),
    })),
  ];
  const sections = [
    intro,
    shortSection(figures, deployed),
    monthSection(ways),
    perUnitSection(ways, figures, deployed),
    freeSection(ways),
    comparisonSection(ways),
    plansSection(figures, deployed),
    assumptionsSection(deployed),
    measuredSection(figures),
    formulasSection(figures, deployed),
    pricesSection(),
  ];
  return `${sections.join('\n\n')}\n`;
}

const intro = `<!-- Made by \`npm run generate\` from test/bench/cost/. DO NOT EDIT. -->

# What it costs

Dollars at list prices of us-east-1, from what the benchmark counted (test/bench/cost/cost-figures.json), the prices in
test/bench/cost/prices.ts and a few assumptions, all of which stand below. None of it was read from a real bill.

The other solutions do only the polling: they keep no record that can be listed, answer no API, and check no idempotency
key. So the row to compare them with is “its polling alone”: the drain, the sweep and Redis. What the record, the API, the
alarms and the log lines cost would come on top of theirs as it does of ours.`;

function shortSection(figures: CostFigures, deployed: Deployed): string {
  const dollars = (parts: readonly Part[]) => sayDollars(listDollars(parts));
  const idle = pollkeeperBill(0, figures, deployed);
  const busy = pollkeeperBill(100_000, figures, deployed);
  const drain = busy.polling.filter(({ what }) => what.startsWith('polling: drain'));
  return `## In short

- Idle it costs ${dollars(allParts(idle))} a month, ${dollars(idle.polling)} of it for the polling. The rest is alarms and metrics, of which an account’s first
  ten each are free.
- What one pays for is a drain that is awake: ${dollars(drain)} a month if it never sleeps, and the fixed Redis plan beside it,
  however many renders there are. ${say(100_000)} renders a day cost ${dollars(busy.polling)} a month to poll.
- With few renders nearly everything that is billed by the poll costs less: see [where something else is cheaper](#where-something-else-is-cheaper).`;
}

function monthSection(ways: readonly Way[]): string {
  const head = ['a month, before free allowances', 'idle', ...volumes.map((volume) => `${say(volume)} renders a day`)];
  const rows = ways.map(({ name, parts }) => [
    name,
    ...[0, ...volumes].map((volume) => sayDollars(listDollars(parts(volume)))),
  ]);
  return `## A month\n\n${table(head, rows)}`;
}

function perUnitSection(ways: readonly Way[], figures: CostFigures, deployed: Deployed): string {
  const heads = volumes.map((volume) => `at ${say(volume)} a day`);
  const rowsPer = (units: (rendersPerDay: number) => number) =>
    ways.map(({ name, parts }) => [
      name,
      ...volumes.map((volume) => sayDollars(listDollars(parts(volume)) / units(volume))),
    ]);
  const perRenders = rowsPer((volume) => monthOf(volume).renders / 1_000);
  const perPolls = rowsPer((volume) => monthOf(volume).polls / 1_000_000);
  return `## Per 1,000 renders, and per million polls

${table(['per 1,000 renders', ...heads], perRenders)}

${table(['per million polls', ...heads], perPolls)}

${bareMillion(figures, deployed)}`;
}

/** What a poll costs when there are so many that nothing is paid for waiting. */
function bareMillion({ steady }: CostFigures, { memoryGb, windowSeconds }: Deployed): string {
  const seconds = 1_000_000 / steady.readsPerSecond;
  const parts: Pick<Part, 'price' | 'quantity'>[] = [
    { price: 'redisCommand', quantity: steady.redisCommandsPerPoll * 1_000_000 },
    { price: 'lambdaTime', quantity: ((seconds * windowSeconds) / 60) * memoryGb.drain },
    { price: 'dynamoRead', quantity: steady.dynamoReadsPerPoll * 1_000_000 },
  ];
  const [redis, time, reads] = parts.map(
    (part) => `${sayPrice(prices[part.price])} = ${sayDollars(listDollars([part]))}`,
  );
  return `At the pace of the steady benchmark, ${say(steady.readsPerSecond)} polls a second, Pollkeeper’s polling costs ${sayDollars(listDollars(parts))} per million polls:
${say(steady.redisCommandsPerPoll * 1_000_000)} Redis commands × ${redis}; ${say(seconds)} s × ${windowSeconds} / 60 × ${memoryGb.drain} GB × ${time};
${say(steady.dynamoReadsPerPoll * 1_000_000)} record reads × ${reads}.`;
}

function freeSection(ways: readonly Way[]): string {
  const rows = ways.map(({ name, parts }) => [
    name,
    ...[0, ...volumes].map((volume) => sayDollars(billedDollars(parts(volume)))),
  ]);
  const head = ['a month, after free allowances', 'idle', ...volumes.map((volume) => `${say(volume)} a day`)];
  return `## A month, after what is free for good

As if nothing else in the account used the allowances. Those for the first twelve months are left out.

${table(head, rows)}`;
}

function comparisonSection([, ours, ...others]: readonly Way[]): string {
  const own = (rendersPerDay: number) => listDollars(ours?.parts(rendersPerDay) ?? []);
  const rows = others.map(({ name, parts }, place) => {
    const ranges = rangesWhere((rendersPerDay) => own(rendersPerDay) < listDollars(parts(rendersPerDay)));
    return [name, ranges.map(sayRange).join(', ') || 'never', alternatives[place]?.note ?? ''];
  });
  const cheaper = volumes.map((volume) => {
    const names = others.filter(({ parts }) => listDollars(parts(volume)) < own(volume)).map(({ name }) => name);
    return `- At ${say(volume)} renders a day: ${names.length === 0 ? 'none' : names.join('; ')}.`;
  });
  return `## Where something else is cheaper

${textTable(['', 'Pollkeeper’s polling costs less, renders a day', 'what else to know'], rows)}

What costs less than Pollkeeper’s polling alone, at list prices:

${cheaper.join('\n')}

Pollkeeper pays for a drain that is awake, whatever the number of renders: with few of them that is money for waiting, and
whatever is billed by the poll costs less. With many, a poll costs it next to nothing. What it gives for the difference is
not in these tables: reads to the millisecond and never early, one read at a time of each job, a record that is written before
anything else, and repair of what was lost.`;
}

function sayRange({ from, to }: Range): string {
  if (to === null) return from === 0 ? 'always' : `from ${sayAbout(from)} on`;
  return from === 0 ? `up to ${sayAbout(to)}` : `${sayAbout(from)} to ${sayAbout(to)}`;
}
