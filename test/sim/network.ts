import type { Lambda } from './lambda.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trip } from './weather.ts';

/** What comes of a call, as its caller hears it. */
export type Reply<T> =
  | { kind: 'value'; value: T }
  | { kind: 'thrown'; error: unknown }
  /** No answer; whether it was carried out is not known to the caller. */
  | { kind: 'none'; why: 'broken' | 'timeout' | 'aborted' };

export interface Sent<T> {
  /** Never settles when the caller dies first. */
  reply: Promise<Reply<T>>;
  /** The caller ends the call now and hears of nothing more. What was sent may still be carried out. */
  abort(): void;
}

/**
 * A call on its way: it is carried out at one moment, and answered at a later one. In between the caller may die, give
 * up, or be frozen; none of that takes back what was sent.
 */
export function send<T>(
  scheduler: Scheduler,
  caller: Lambda,
  trip: Trip,
  timeoutMs: number,
  execute: () => Promise<T>,
): Sent<T> {
  let settle: (reply: Reply<T>) => void = () => {};
  let open = true;
  const reply = new Promise<Reply<T>>((resolve) => {
    settle = resolve;
  });
  const answer = (given: Reply<T>) => {
    if (!open) return;
    open = false;
    if (trip.crash === 'after') caller.kill();
    else settle(given);
  };
  const silence = (why: 'broken' | 'timeout', delayMs: number) =>
    caller.deliver(delayMs, () => answer({ kind: 'none', why }));
  const carryOut = async (backMs: number | null) => {
    const result = await outcomeOf(execute);
    if (trip.crash === 'meanwhile') caller.kill();
    if (backMs !== null && open) caller.deliver(backMs, () => answer(result));
  };

  if (caller.isDead) return { reply, abort() {} };
  if (trip.crash === 'before') {
    caller.kill();
    return { reply, abort() {} };
  }
  if (trip.outMs !== null) scheduler.after(trip.outMs, () => carryOut(trip.againMs === null ? trip.backMs : null));
  if (trip.outMs !== null && trip.againMs !== null) {
    scheduler.after(trip.outMs + trip.againMs, () => carryOut(trip.backMs));
  }
  if (trip.brokenAfterMs !== null) silence('broken', Math.min(trip.brokenAfterMs, timeoutMs));
  else if (answerAfterMs(trip) > timeoutMs) silence('timeout', timeoutMs);
  return { reply, abort: () => answer({ kind: 'none', why: 'aborted' }) };
}

function answerAfterMs({ outMs, againMs, backMs }: Trip): number {
  return outMs === null || backMs === null ? Number.POSITIVE_INFINITY : outMs + (againMs ?? 0) + backMs;
}

async function outcomeOf<T>(execute: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { kind: 'value', value: await execute() };
  } catch (error) {
    return { kind: 'thrown', error };
  }
}
