import type { JobWithOutlook } from './answers.ts';
import { PollkeeperError } from './error.ts';
import { segment } from './segment.ts';
import type { Transport } from './transport.ts';

export interface WaitOptions {
  /** When to give up with `wait_timeout`, ms from now. Default: never; every job ends. */
  timeoutMs?: number;
  /** Breaks off the wait, not the job. */
  signal?: AbortSignal;
  /** Called with the job as it is first found, and after each change. What it throws, the wait throws. */
  onChange?: (job: JobWithOutlook) => void;
}

/** The longest that the service holds a read, seconds. */
const holdSeconds = 25;
/** On top of that, for the way. */
const onTheWayMs = 10_000;
/** A service that answers at once, without news, is not asked in a tight circle. */
const leastMs = 1_000;

/**
 * The job once it has ended, however it ended. Each read is held by the service until there is news; one that fails is
 * repeated for as long as the wait lasts, unless repeating can't help (a 404, a token that was taken away).
 */
export async function waitForEnd(transport: Transport, id: string, options: WaitOptions = {}): Promise<JobWithOutlook> {
  try {
    return await askUntilEnd(transport, id, options);
  } catch (error) {
    throw error instanceof PollkeeperError ? error.about({ jobId: id }) : error;
  }
}

async function askUntilEnd(transport: Transport, id: string, options: WaitOptions): Promise<JobWithOutlook> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal, onChange } = options;
  const { nowMs, sleep } = transport.runtime;
  const endsAtMs = nowMs() + timeoutMs;
  let tag: string | null = null;
  let failures = 0;
  let toldOf: string | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const startedAtMs = nowMs();
    const leftMs = endsAtMs - startedAtMs;
    if (leftMs <= 0) throw timedOut(id, timeoutMs);
    const asked = await askOnce(transport, id, { tag, leftMs, ...(signal === undefined ? {} : { signal }) });
    if (asked instanceof PollkeeperError) {
      await sleep(Math.min(leftMs, transport.delayMs(++failures, asked)), signal);
      continue;
    }
    failures = 0;
    tag = asked.tag;
    if (asked.job !== null && asked.job.updated_at !== toldOf) {
      toldOf = asked.job.updated_at;
      onChange?.(asked.job);
    }
    if (asked.job !== null && asked.job.finished_at !== null) return asked.job;
    // Something on the way may keep the tag back; then no read is held.
    const restMs = asked.job !== null && tag !== null ? 0 : leastMs - (nowMs() - startedAtMs);
    if (restMs > 0) await sleep(Math.min(leftMs, restMs), signal);
  }
}

interface Asking {
  /** Of what is known; null: nothing is, and the answer comes at once. */
  tag: string | null;
  leftMs: number;
  signal?: AbortSignal;
}

/** The job if it is another than the known one, else null; or the error after which it is worth while to ask again. */
async function askOnce(transport: Transport, id: string, { tag, leftMs, signal }: Asking) {
  const wait = tag === null ? 0 : Math.min(holdSeconds, Math.floor(leftMs / 1_000));
  try {
    const { status, headers, body } = await transport.send({
      method: 'GET',
      path: `/v1/jobs/${segment(id)}`,
      query: { wait },
      ...(tag === null ? {} : { headers: { 'if-none-match': tag } }),
      ...(signal === undefined ? {} : { signal }),
      timeoutMs: Math.min(leftMs, wait * 1_000 + onTheWayMs),
      retries: 0,
    });
    if (status === 304) return { job: null, tag };
    return { job: body as JobWithOutlook, tag: headers.get('etag') };
  } catch (error) {
    if (error instanceof PollkeeperError && error.retryable) return error;
    throw error;
  }
}

function timedOut(id: string, timeoutMs: number): PollkeeperError {
  const message = `The job ${id} had not ended after ${timeoutMs} ms. It goes on; wait for it again.`;
  return new PollkeeperError(message, { status: null, code: 'wait_timeout', retryable: true });
}
