import { DueSetError, messageOf } from '../errors.ts';

/** Runs a call and turns what it throws into a DueSetError. The client puts the whole command into its messages: it is cut off. */
export async function asDueSetErrors<T>(token: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof DueSetError) throw error;
    const message = messageOf(error)
      .replace(/,? command was:.*/s, '')
      .replaceAll(token, '[redacted]');
    throw new DueSetError(codeOf(error, message), message);
  }
}

function codeOf(error: unknown, message: string): DueSetError['code'] {
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  if (/max (daily )?requests? limit|capacity quota|\bOOM\b/.test(message)) return 'limit';
  return name === 'UpstashError' || name === 'UpstashJSONParseError' ? 'refused' : 'unreachable';
}
