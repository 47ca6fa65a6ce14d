import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapiDocument } from '../lib/http/openapi/document.ts';
import { clientTypes } from './client-types.ts';

/*
 * Makes files from sources: the Lua scripts as a TypeScript module, so that every runtime (bundles, tests, the local stack)
 * gets them the same way, and the API's OpenAPI document, for readers and as a module that serves it, and from that
 * the client's types. `--check` writes nothing and fails when a file is not what its sources say.
 */
const root = fileURLToPath(new URL('../', import.meta.url));
const folder = `${root}lib/due-set/`;

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
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const document = openapiDocument(version);
const served = JSON.stringify(JSON.stringify(document));

const wanted = {
  'lib/due-set/scripts.gen.ts': `// Made by \`npm run generate\` from the .lua files in this folder. DO NOT EDIT.\n\n${scripts.join('\n')}`,
  'lib/http/openapi.gen.ts': `// Made by \`npm run generate\` from lib/http/openapi. DO NOT EDIT.\n\nexport const openapi =\n  ${served};\n`,
  'lib/client/api.gen.ts': clientTypes(document),
  'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
};

for (const [name, text] of Object.entries(wanted)) {
  const path = `${root}${name}`;
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is out of date: run "npm run generate" and commit the result.`);
    process.exitCode = 1;
  }
}
