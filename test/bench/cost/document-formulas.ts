import { alternatives } from './alternatives.ts';
import { assumed, memoryGbOfOneCore, volumes } from './assumptions.ts';
import type { CostFigures } from './cost-figures.ts';
import type { Deployed } from './deployed.ts';
import { table } from './markdown.ts';
import { commandsOfTicks, commandsPerEmptyTick, commandsPerLonePoll, type DrainMonth } from './month.ts';
import { listDollars, type Part } from './part.ts';
import { allParts, pollkeeperBill } from './pollkeeper.ts';
import { prices } from './prices.ts';
import { say, sayAbout, sayDollars, sayPercent, sayPrice } from './say.ts';

/** The volume whose numbers are put into the formulas. */
const shown = 1_000;

export function formulasSection(figures: CostFigures, deployed: Deployed): string {
  const bill = (rendersPerDay: number) => pollkeeperBill(rendersPerDay, figures, deployed);
  const { month } = bill(shown);
  return `## How it is computed

### Pollkeeper, with ${say(shown)} renders a day put in

${monthFormulas(month, figures, deployed)}

${partLines(allParts(bill(shown)))}

### Pollkeeper, line by line

${billTable((rendersPerDay) => allParts(bill(rendersPerDay)))}

### The other solutions, with ${say(shown)} renders a day put in

${alternatives.map(({ name, parts }) => `**${name}**\n\n${partLines(parts(shown, figures))}`).join('\n\n')}`;
}

function monthFormulas(month: DrainMonth, figures: CostFigures, { memoryGb, lanes }: Deployed): string {
  const { renderSeconds, hintSeconds } = assumed;
  const { active, awakeShare, rendersPerDay, pollsPerRender, polls, renders, pollsPerSecond, commandsPerSecond } =
    month;
  const { steady, light } = figures;
  const most = steady.redisCommandsPerPoll * steady.readsPerSecond;
  const lone = commandsPerLonePoll(light);
  const cores = memoryGb.drain / memoryGbOfOneCore;
  const carried = (cores / steady.cpuSecondsPer1000Polls) * 1_000;
  return [
    `- Polls: ${renderSeconds} s / ${hintSeconds} s = ${say(pollsPerRender)} a render; ${say(renders)} renders a month × ${say(pollsPerRender)} = ${say(polls)}.`,
    `- Renders under way: ${say(rendersPerDay)} × ${renderSeconds} s / 86,400 s = ${say(active)} on average. They arrive at random, so a drain is awake for 1 − e^−${say(active)} = ${sayPercent(awakeShare)} of the time, and ${sayPercent(1 - awakeShare)} of the submits wake one.`,
    `- Redis commands of an awake drain: min(${say(most)}, ${say(commandsOfTicks(light))} + ${say(lone)} × ${say(pollsPerSecond)} polls a second) = ${say(commandsPerSecond)} a second. ${say(most)} are those of the steady benchmark (${say(steady.redisCommandsPerPoll)} a poll × ${say(steady.readsPerSecond)} polls a second), ${say(commandsOfTicks(light))} those of ${say(light.redisRoundTripsPerSecond)} ticks × ${commandsPerEmptyTick}, ${say(lone)} what a poll added that was alone.`,
    `- One drain is enough: ${memoryGb.drain} GB are ${say(cores)} of a core, and at ${say(steady.cpuSecondsPer1000Polls)} s of CPU per 1,000 polls they carry ${sayAbout(carried)} polls a second, if a core of Lambda is like one of the benchmark’s machine; its ${lanes} lanes carry ${say(lanes / assumed.pollRunSeconds)} with answers of ${assumed.pollRunSeconds} s. ${say(volumes.at(-1) ?? 0)} renders a day are ${say(((volumes.at(-1) ?? 0) * pollsPerRender) / 86_400)} polls a second.`,
  ].join('\n');
}

function partLines(parts: readonly Part[]): string {
  const lines = parts.map(({ what, price, quantity, how }) => {
    const total = how === say(quantity) || quantity === 1 ? '' : ` = ${say(quantity)}`;
    return `- ${what}: ${how}${total}; × ${sayPrice(prices[price])} = ${sayDollars(listDollars([{ price, quantity }]))}`;
  });
  return [...lines, `- together: ${sayDollars(listDollars(parts))} a month`].join('\n');
}

/** The same lines for all volumes. Lines that come and go with the volume stand where they come first. */
function billTable(partsOf: (rendersPerDay: number) => Part[]): string {
  const bills = [0, ...volumes].map((volume) => partsOf(volume));
  const names = [...new Set(bills.flatMap((parts) => parts.map(({ what }) => what)))];
  const rows = names.map((name) => [
    name,
    ...bills.map((parts) => sayDollars(listDollars(parts.filter(({ what }) => what === name)))),
  ]);
  const totals = ['**together**', ...bills.map((parts) => `**${sayDollars(listDollars(parts))}**`)];
  return table(['a month', 'idle', ...volumes.map((volume) => `${say(volume)} a day`)], [...rows, totals]);
}
