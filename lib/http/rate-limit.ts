import type { MiddlewareHandler } from 'hono';
import type { RequestLimit } from '../request-limit.ts';
import type { ApiEnv } from './app.ts';
import { Problem } from './problem.ts';

/**
 * So many requests a minute for each owner, whatever is in them. Every answer tells what is left, in the headers of
 * draft-ietf-httpapi-ratelimit-headers-11.
 */
export function limitRequests(limit: RequestLimit): MiddlewareHandler<ApiEnv> {
  const policy = `"default";q=${limit.perMinute};w=60`;
  return async (context, next) => {
    const { allowed, left, resetMs } = await limit.take(context.get('owner'));
    const seconds = Math.max(Math.ceil(resetMs / 1000), 1);
    const headers = { 'RateLimit-Policy': policy, RateLimit: `"default";r=${left};t=${seconds}` };
    if (!allowed) {
      const detail = `This is more than ${limit.perMinute} requests in a minute. Repeat it after ${seconds} s.`;
      const retryAfter = { 'Retry-After': String(seconds) };
      throw new Problem(429, 'rate_limited', detail).withHeaders({ ...headers, ...retryAfter });
    }
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
  };
}
