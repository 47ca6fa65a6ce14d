/**
 * Breaks the code in named ways, one at a time, and shows that the tests notice: `npm run mutate -- --help`.
 * Works on copies of the repository; the working tree is never changed.
 */
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from './mutants.ts';
import { failingTests, prepareCopy, removeCopies } from './try-mutant.ts';

const helpText = `Usage: npm run mutate -- [name…] [options]

Breaks the code in ${mutants.length} named ways, one at a time, each in a copy of its own, and runs the tests that have to notice.
Without names it tries all of them, in about ten minutes; first those tests run on the unbroken code.

  --list   the names, and the harm that each would do
  --json   the last line on stdout is one JSON object
  --help   this text

Exit code 0: all were caught. 1: one survived, or a test fails on the unbroken code. 2: the command line can't be used.`;

interface Tried {
  name: string;
  caughtBy: string | null;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) return say(helpText);
  if (values.list) return say(mutants.map(({ name, harm }) => `${name.padEnd(34)}${harm}`).join('\n'));
  const unknown = positionals.find((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown !== undefined) throw new UsageError(`There is no mutant "${unknown}"; --list names them.`);
  const chosen = positionals.length === 0 ? mutants : mutants.filter(({ name }) => positionals.includes(name));
  return tryAll(chosen, values.json ?? false);
}

async function tryAll(chosen: readonly Mutant[], json: boolean): Promise<number> {
  const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
  console.error(`The unbroken code, ${tests.length} test files…`);
  const broken = await failingTests(await prepareCopy('unbroken'), tests);
  if (broken !== null) {
    console.error(`Fails without any mutation, so nothing can be shown: ${broken}`);
    return 1;
  }
  const tried: Tried[] = [];
  for (const [index, mutant] of chosen.entries()) {
    const caughtBy = await failingTests(await prepareCopy(mutant.name, mutant), mutant.tests);
    tried.push({ name: mutant.name, caughtBy });
    const verdict = caughtBy === null ? 'SURVIVED' : `caught by: ${caughtBy}`;
    console.error(`${index + 1}/${chosen.length} ${mutant.name.padEnd(34)}${verdict}`);
  }
  await removeCopies();
  const survived = tried.filter(({ caughtBy }) => caughtBy === null).map(({ name }) => name);
  if (json) console.log(JSON.stringify({ tried: tried.length, caught: tried.length - survived.length, survived }));
  return survived.length === 0 ? 0 : 1;
}

function say(text: string): number {
  console.log(text);
  return 0;
}

class UsageError extends Error {}

main()
  .then((code) => process.exit(code))
  .catch((error: unknown) => {
    const unusable = error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
    console.error(error instanceof Error ? error.message : error);
    process.exit(unusable ? 2 : 1);
  });
