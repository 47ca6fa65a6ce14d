import type { RunningSumeSimulator } from '../../infra/local/sume-simulator/start.ts';

/** A clock that only moves when told to; serves as both clocks of the simulator. */
export type TestClock = { ms: number; nowMs: () => number; monotonicMs: () => number };

export function testClock(startMs = Date.UTC(2026, 0, 1)): TestClock {
  const clock: TestClock = { ms: startMs, nowMs: () => clock.ms, monotonicMs: () => clock.ms };
  return clock;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the tests
export type Reply = { status: number; headers: Headers; text: string; json: any };

export const CLIP = { model: 'seedance-2-mini', prompt: 'A calm sea', duration: 8, resolution: '720p' };

/** One request with a key, answered whole. `path` is as the client's, e.g. `/v1/jobs`. */
export async function ask(
  simulator: Pick<RunningSumeSimulator, 'url'>,
  method: string,
  path: string,
  options: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const response = await fetch(simulator.url + path, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${options.key ?? 'key-of-tests'}`, ...options.headers },
    ...(options.body !== undefined && {
      body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body),
    }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

export function create(
  simulator: Pick<RunningSumeSimulator, 'url'>,
  idempotencyKey?: string,
  body: unknown = CLIP,
  key?: string,
): Promise<Reply> {
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  return ask(simulator, 'POST', '/v1/videos', { body, headers, ...(key !== undefined && { key }) });
}

export function readStatus(simulator: Pick<RunningSumeSimulator, 'url'>, jobId: string): Promise<Reply> {
  return ask(simulator, 'GET', `/v1/jobs/${jobId}/status`);
}

/** Adds fault rules; fails loudly when one is not accepted. */
export async function addFault(simulator: Pick<RunningSumeSimulator, 'url'>, rule: unknown): Promise<Reply> {
  const reply = await ask(simulator, 'POST', '/__control/faults', { body: rule });
  if (reply.status !== 200) throw new Error(`fault rule refused: ${reply.text}`);
  return reply;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
