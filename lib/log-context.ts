import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log, LogFields } from './log.ts';

/*
 * Fields for every log line that is written on behalf of one request, however deep: what works for several requests at a
 * time, such as a connection to a queue, can't be handed a log for each.
 */
const current = new AsyncLocalStorage<LogFields>();

/** Runs it; what it logs, and what it starts logs, through a log with context has these fields. */
export function inLogContext<T>(fields: LogFields, run: () => T): T {
  return current.run(fields, run);
}

export function withLogContext(log: Log): Log {
  const line = (level: keyof Log) => (event: string, fields?: LogFields) =>
    log[level](event, { ...current.getStore(), ...fields });
  return { info: line('info'), warn: line('warn'), error: line('error') };
}
