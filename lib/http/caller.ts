import type { MiddlewareHandler } from 'hono';
import type { LambdaEvent } from 'hono/aws-lambda';
import { type Scope, scopes } from '../tokens.ts';
import type { ApiEnv } from './app.ts';
import { Problem } from './problem.ts';

/** Who calls, as the authorizer found out. */
export interface Caller {
  owner: string;
  scopes: readonly Scope[];
  /** What the token is called in the list of tokens, if it has a name. */
  tokenName?: string;
}

/** Lets nobody pass whom the authorizer does not know. */
export const demandToken: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const caller = callerOf(context.env?.event);
  context.set('caller', caller);
  context.set('owner', caller.owner);
  await next();
};

/** Stands before the handler of each route that needs a token. */
export function demandScope(scope: Scope): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    if (!context.get('caller').scopes.includes(scope)) {
      const detail = `This needs a token with the scope ${scope}; the one that was sent is not made out for it.`;
      throw new Problem(403, 'scope_missing', detail, 'Authorization', { scope });
    }
    await next();
  };
}

/**
 * The authorizer lets every request through and only says whose it is, so that a refusal is a problem document like every
 * other; this is where it is refused. Without a word on scopes, as older authorizers have it, the token has all of them.
 */
function callerOf(event: LambdaEvent | undefined): Caller {
  const context = event?.requestContext as { authorizer?: { lambda?: Record<string, unknown> } } | undefined;
  const { owner, scopes: granted, token, unavailable } = context?.authorizer?.lambda ?? {};
  if (unavailable !== undefined) {
    throw new Problem(503, 'tokens_unavailable', 'Who calls can not be told now; repeat the request.');
  }
  if (typeof owner !== 'string' || owner === '') {
    const detail = 'Send "Authorization: Bearer <token>" with a token of this service.';
    throw new Problem(401, 'token_invalid', detail, 'Authorization');
  }
  const words = typeof granted === 'string' ? granted.split(' ') : scopes;
  const held = scopes.filter((scope) => words.includes(scope));
  return { owner, scopes: held, ...(typeof token === 'string' && token !== '' ? { tokenName: token } : {}) };
}
