import { type Environment, readTokens, type TokenEntry } from '../config.ts';
import { fillSecrets } from './fill-secrets.ts';

export async function wireAuthorize(given: Environment): Promise<TokenEntry[]> {
  return readTokens(await fillSecrets(given, ['API_TOKENS']));
}
