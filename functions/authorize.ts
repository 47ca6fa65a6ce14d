import type { APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda';
import { identifyOwner } from '../lib/identify-owner.ts';
import { oncePerProcess } from '../lib/once.ts';
import { wireAuthorize } from '../lib/wire/authorize.ts';

const wired = oncePerProcess(() => wireAuthorize(process.env));

/**
 * Says who calls; the API refuses those who are nobody, so that its 401 is a problem document like its other errors.
 * The deployed gateway lower-cases header names, an emulated one may keep the client's spelling.
 */
export async function handler(event: APIGatewayRequestAuthorizerEventV2) {
  const header = Object.entries(event.headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const owner = identifyOwner(header, await wired());
  return { isAuthorized: true, context: owner === null ? {} : { owner } };
}
