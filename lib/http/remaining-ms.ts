import type { Context } from 'hono';
import type { ApiEnv } from './app.ts';

/** How long this run of the function may still take, ms; asked anew each time. Without end where nothing limits it. */
export function remainingMs(context: Context<ApiEnv>): number {
  return context.env?.lambdaContext?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
}
