import type { APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda';
import { bearerToken, identifyOwner } from '../lib/identify-owner.ts';
import { wireAuthorize } from '../lib/wire/authorize.ts';

const { tokens, nowMs } = wireAuthorize(process.env);

/**
 * Says who calls; the API refuses those who are nobody, so that its 401 is a problem document like its other errors.
 * The deployed gateway lower-cases header names, an emulated one may keep the client's spelling.
 */
export async function handler({ headers }: Pick<APIGatewayRequestAuthorizerEventV2, 'headers'>) {
  const header = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  return { isAuthorized: true, context: await contextOf(bearerToken(header)) };
}

/** What the API is told (lib/http/caller.ts). */
async function contextOf(token: string | null): Promise<Record<string, string>> {
  if (token === null) return {};
  const list = await tokens();
  if (list === null) return { unavailable: 'tokens' };
  const entry = identifyOwner(token, list, nowMs());
  if (entry === null) return {};
  const { owner, scopes, name } = entry;
  return { owner, scopes: scopes.join(' '), ...(name === undefined ? {} : { token: name }) };
}
