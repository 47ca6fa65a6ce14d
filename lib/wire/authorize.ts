import type { Environment } from '../config.ts';
import { type CurrentTokens, currentTokens } from '../current-tokens.ts';
import { readTokens } from '../tokens.ts';
import { fillSecrets } from './fill-secrets.ts';
import { clock, log } from './process.ts';

export function wireAuthorize(given: Environment): { tokens: CurrentTokens; nowMs: () => number } {
  const read = async () => readTokens(await fillSecrets(given, ['API_TOKENS']));
  return { tokens: currentTokens(read, { clock, log }), nowMs: clock.nowMs };
}
