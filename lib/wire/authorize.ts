import { type Environment, readTokens, type TokenEntry } from '../config.ts';
import { fill } from './secrets.ts';

export async function wireAuthorize(given: Environment): Promise<TokenEntry[]> {
  return readTokens(await fill(given, ['API_TOKENS']));
}
