import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';

/*
 * Lints docs/openapi.json by Redocly's recommended rules, warnings included.
 * Run: `npm run check:openapi`. Exit code 1 if there is anything to say.
 */
const path = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'operation-operationId': 'error',
    'operation-operationId-unique': 'error',
    'no-invalid-media-type-examples': 'error',
    'no-invalid-parameter-examples': 'error',
  },
});
const problems = await lintFromString({ source: readFileSync(path, 'utf8'), absoluteRef: path, config });
for (const { severity, ruleId, message, location } of problems) {
  console.error(`${severity} ${ruleId} at ${location[0]?.pointer ?? ''}: ${message}`);
}
if (problems.length > 0) process.exitCode = 1;
