import type { NodeProcess } from '../support/node-process.ts';
import type { RunEnded } from './messages.ts';
import type { Stage } from './stage.ts';

/** One run of a drain or a sweep, as one invocation of its Lambda. */
export interface FunctionRun {
  readonly name: string;
  /** When its process is gone. Its report is absent if it was killed. */
  readonly gone: Promise<{ report?: Record<string, unknown>; inHand: string[] }>;
  /** SIGKILL. Resolves with the moment, and what it had in hand; undefined if it had just ended by itself. */
  kill(): Promise<{ atMs: number; inHand: string[] } | undefined>;
}

/** What serverless.yml gives each, ms. */
const timeoutsMs = { drain: 90_000, sweep: 120_000 };

export async function startRun(stage: Stage, kind: 'drain' | 'sweep', event: string): Promise<FunctionRun> {
  const name = stage.nextName(kind);
  const bridge = await stage.redis.open(name);
  const env = { EVENT: event, TIMEOUT_MS: String(timeoutsMs[kind]) };
  let process: NodeProcess;
  try {
    process = await stage.startFunction(name, 'run-function', kind, { bridgeUrl: bridge.url, env });
  } catch (error) {
    await bridge.close();
    throw error;
  }
  let report: Record<string, unknown> | undefined;
  process.onMessage((message) => {
    report = (message as RunEnded).report;
  });
  const gone = process.gone
    .then(() => bridge.close())
    .then((inHand) => ({ inHand, ...(report !== undefined && { report }) }));
  return {
    name,
    gone,
    async kill() {
      const atMs = Date.now();
      await process.kill();
      const { inHand } = await gone;
      return report === undefined ? { atMs, inHand } : undefined;
    },
  };
}
