import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const testFiles = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
);
const faultsInDocs = [...readFileSync('docs/faults.md', 'utf8').matchAll(/^\| (T\d+) \|/gm)].map(([, id = '']) => id);

test('every fault that a test names by its id stands in docs/faults.md, and every one there is named by a test', () => {
  const named = new Set(testFiles.flatMap((name) => readFileSync(`test/${name}`, 'utf8').match(/\bT\d{2,3}\b/g) ?? []));
  expect([...new Set(faultsInDocs)].sort()).toEqual([...named].sort());
});

test.each(['docs/faults.md', 'docs/durability.md'])('%s names in its last column what there is', (path) => {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (---|id|fault) \|/.test(line));
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const exists = (name: string) => {
    const script = name.match(/^npm run ([\w:]+)$/)?.[1];
    return script === undefined ? existsSync(`test/${name}.test.ts`) : Object.hasOwn(scripts, script);
  };
  const shownIn = rows.map((row) => row.split('|').at(-2)?.trim() ?? '');
  expect(rows.length).toBeGreaterThan(0);
  expect(shownIn.filter((cell) => !/^`[^`]+`(, `[^`]+`)*$/.test(cell))).toEqual([]);
  const names = shownIn.flatMap((cell) => cell.split(', ').map((name) => name.replaceAll('`', '')));
  expect([...new Set(names)].filter((name) => !exists(name))).toEqual([]);
});

test('docs/durability.md names faults that docs/faults.md has', () => {
  const named = readFileSync('docs/durability.md', 'utf8').match(/\bT\d{2,3}\b/g) ?? [];
  expect(named.filter((id) => !faultsInDocs.includes(id))).toEqual([]);
});
