import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const testFiles = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
);

test('every fault that a test names by its id stands in docs/faults.md, and every one there is named by a test', () => {
  const named = new Set(testFiles.flatMap((name) => readFileSync(`test/${name}`, 'utf8').match(/\bT\d{2,3}\b/g) ?? []));
  const documented = new Set(
    [...readFileSync('docs/faults.md', 'utf8').matchAll(/^\| (T\d+) \|/gm)].map(([, id]) => id),
  );
  expect([...documented].sort()).toEqual([...named].sort());
});
