import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { inLogContext } from '../log-context.ts';
import type { ApiEnv, ApiPorts } from './app.ts';

/**
 * Gives each request the gateway's id for it, on the answer and on all that is logged meanwhile, and ends it with a line in
 * the log. That has the route's pattern instead of the path, and no query: nothing that the caller made up.
 */
export function followRequest({ clock, log, newId }: ApiPorts): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const requestId = idOf(context) ?? newId();
    context.set('requestId', requestId);
    await inLogContext({ requestId }, async () => {
      const fromMs = clock.monotonicMs();
      await next();
      context.header('X-Request-Id', requestId);
      const { method } = context.req;
      const { owner, tokenName } = context.get('caller') ?? {};
      const ms = Math.round(clock.monotonicMs() - fromMs);
      log.info('request', { method, route: routePath(context), status: context.res.status, ms, owner, tokenName });
    });
  };
}

/** What an emulated gateway gives to all of them alike. */
const notAnId = 'offlineContext_resourceId';

function idOf(context: Context<ApiEnv>): string | undefined {
  const id = (context.env?.event?.requestContext as { requestId?: unknown } | undefined)?.requestId;
  return typeof id === 'string' && id !== notAnId && /^[\w=+/.-]{1,128}$/.test(id) ? id : undefined;
}
