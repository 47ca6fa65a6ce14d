import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * Turns the Lua sources into a TypeScript module, so that every runtime (bundles, tests, the local stack) gets them
 * the same way. `--check` writes nothing and fails when the module is not what the sources say.
 */
const folder = fileURLToPath(new URL('../lib/due-set/', import.meta.url));
const target = `${folder}scripts.gen.ts`;

/** Each script's files, in the order in which they are joined. */
const sources = {
  exchange: ['exchange', 'breaker', 'meter', 'budget', 'claim', 'slots', 'admit', 'role', 'reply'],
  schedule: ['schedule', 'wake'],
  enqueue: ['enqueue', 'wake'],
  tidy: ['tidy', 'wake'],
};

const scripts = Object.entries(sources).map(([name, parts]) => {
  const text = parts
    .flatMap((part) => readFileSync(`${folder}${part}.lua`, 'utf8').split('\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('--'))
    .join('\n');
  return `/** From ${parts.map((part) => `${part}.lua`).join(', ')}. SHA-1 ${createHash('sha1').update(text).digest('hex')}. */\nexport const ${name}Script =\n  ${JSON.stringify(text)};\n`;
});
const wanted = `// Made by \`npm run generate\` from the .lua files in this folder. DO NOT EDIT.\n\n${scripts.join('\n')}`;

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== wanted) {
    console.error(`${target} is out of date: run "npm run generate" and commit the result.`);
    process.exit(1);
  }
} else {
  writeFileSync(target, wanted);
}
