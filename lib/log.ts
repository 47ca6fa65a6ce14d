/*
 * One JSON line per event on standard output, which Lambda hands to CloudWatch Logs. Events are snake_case nouns with
 * what happened; fields are camelCase. No request body, key or token is ever a field: log ids, codes and counts.
 */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** `write` takes a line without its end; `nowMs` is wall time. */
export function jsonLog(write: (line: string) => void, nowMs: () => number): Log {
  const line = (level: string) => (event: string, fields?: LogFields) =>
    write(JSON.stringify({ at: new Date(nowMs()).toISOString(), level, event, ...fields }));
  return { info: line('info'), warn: line('warn'), error: line('error') };
}

/** The log, with these fields on every line. */
export function logWith(log: Log, always: LogFields): Log {
  const line = (level: keyof Log) => (event: string, fields?: LogFields) => log[level](event, { ...always, ...fields });
  return { info: line('info'), warn: line('warn'), error: line('error') };
}

/**
 * A line in CloudWatch's embedded metric format: becomes metrics in namespace `Pollkeeper` under dimension Stage
 * without any API call. `values` by metric name; units: names ending in Ms are milliseconds, the others counts.
 */
export function metricLine(stage: string, values: Record<string, number>, nowMs: number): string {
  const metrics = Object.keys(values).map((name) => ({
    Name: name,
    Unit: name.endsWith('Ms') ? 'Milliseconds' : 'Count',
  }));
  const directive = { Namespace: 'Pollkeeper', Dimensions: [['Stage']], Metrics: metrics };
  return JSON.stringify({ _aws: { Timestamp: nowMs, CloudWatchMetrics: [directive] }, Stage: stage, ...values });
}
