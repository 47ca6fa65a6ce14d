import { inspect } from 'node:util';

/** Something in the configuration is missing or malformed. The message names the variable and gives an example. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The due set could not be reached or refused a script. Whether the call took effect is not known. */
export class DueSetError extends Error {
  override readonly name = 'DueSetError';
  /** `limit`: the plan's request or size limit was hit; `timeout`: no answer in time; `refused`: Redis answered with an error; `unreachable`: no connection. */
  readonly code: 'limit' | 'timeout' | 'refused' | 'unreachable';

  constructor(code: DueSetError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The record could not be read or written (throttled, timed out, unreachable). Safe to try again later, unless `broken`. */
export class JobStoreError extends Error {
  override readonly name = 'JobStoreError';
  /** The stored item can't be read as a job; another try will not help. */
  readonly broken: boolean;

  constructor(message: string, broken = false) {
    super(message);
    this.broken = broken;
  }
}

/** The text of any thrown value, on one line and bounded, for a log line or a stored fault. Never includes a stack. */
export function messageOf(error: unknown): string {
  const text =
    error instanceof Error
      ? `${error.name}: ${error.message}`
      : typeof error === 'string'
        ? error
        : inspect(error, { depth: 1 });
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
