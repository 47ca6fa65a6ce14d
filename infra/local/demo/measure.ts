import type { OwnParts } from '../stack/stack.ts';
import { RedisLink } from '../upstash-rest/redis-link.ts';

/** The last line of `npm start -- --once --json`. A figure is null if it could not be measured: its part isn't ours, or was started anew. */
export interface Figures {
  /** Clips followed: sent by this run, or found unfinished from an earlier one. */
  submitted: number;
  completed: number;
  failed: number;
  /** Accepted once, neither ended nor known to the API at the end. */
  lost: number;
  billedClips: number | null;
  providerReads: number | null;
  earlyReads: number | null;
  duplicateReads: number | null;
  /** Also null when there was no read. */
  latenessMs: { p50: number; p99: number; max: number } | null;
  redisCommands: number | null;
  redisRoundTrips: number | null;
  dynamoWrites: number | null;
  wallSeconds: number;
}

export type Measured = Omit<Figures, 'submitted' | 'completed' | 'failed' | 'lost' | 'wallSeconds'>;

/** Counters as they stand, each null if it can't be read. */
export interface Counters {
  sume: {
    billedClips: number;
    providerReads: number;
    earlyReads: number;
    duplicateReads: number;
    latenessMs: { p50: number; p99: number; max: number };
  } | null;
  redisCommands: number | null;
  redisRoundTrips: number | null;
  dynamoWrites: number | null;
  /** How often each part had been started anew: its counts began again then. */
  restarts: { sume: number; redis: number; dynamo: number };
}

export async function readCounters(parts: OwnParts, redisToken: string): Promise<Counters> {
  const { sume, dynamo, 'redis-bridge': bridge } = parts;
  const [report, redisCommands, bridgeCounts, dynamoCounts] = await Promise.all([
    sume && read<NonNullable<Counters['sume']>>(`${sume.current().url}/__control/report`),
    commandsOf(bridge?.current().redis?.port),
    bridge && read<{ httpRequests: number }>(`${bridge.current().url}/__counts`, redisToken),
    dynamo && read<{ writes: number }>(`${dynamo.current().url}/__counts`),
  ]);
  return {
    sume: report ?? null,
    redisCommands,
    redisRoundTrips: bridgeCounts?.httpRequests ?? null,
    dynamoWrites: dynamoCounts?.writes ?? null,
    restarts: { sume: sume?.restarts() ?? 0, redis: bridge?.restarts() ?? 0, dynamo: dynamo?.restarts() ?? 0 },
  };
}

/** What happened between two readings. The paid clips are the provider's own record and outlive its restarts. */
export function measuredBetween(before: Counters | undefined, after: Counters | undefined): Measured {
  const same = (part: keyof Counters['restarts']) => before?.restarts[part] === after?.restarts[part];
  const minus = (late: number | null | undefined, early: number | null | undefined, counts: boolean) =>
    counts && typeof late === 'number' && typeof early === 'number' ? late - early : null;
  const [early, late] = [before?.sume, after?.sume];
  const providerReads = minus(late?.providerReads, early?.providerReads, same('sume'));
  const lateness = late && providerReads ? late.latenessMs : null;
  return {
    billedClips: minus(late?.billedClips, early?.billedClips, true),
    providerReads,
    earlyReads: minus(late?.earlyReads, early?.earlyReads, same('sume')),
    duplicateReads: minus(late?.duplicateReads, early?.duplicateReads, same('sume')),
    latenessMs: lateness && { p50: tenths(lateness.p50), p99: tenths(lateness.p99), max: tenths(lateness.max) },
    redisCommands: minus(after?.redisCommands, before?.redisCommands, same('redis')),
    redisRoundTrips: minus(after?.redisRoundTrips, before?.redisRoundTrips, same('redis')),
    dynamoWrites: minus(after?.dynamoWrites, before?.dynamoWrites, same('dynamo')),
  };
}

/** All commands in a Redis' `INFO commandstats`, those inside scripts too, but not the INFO calls that ask for it. */
export function commandsIn(commandStats: string): number {
  let sum = 0;
  for (const [, name, calls] of commandStats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (name !== 'info') sum += Number(calls);
  }
  return sum;
}

async function commandsOf(redisPort: number | undefined): Promise<number | null> {
  if (redisPort === undefined) return null;
  const link = new RedisLink({ port: redisPort, replyTimeoutMs: 2_000 });
  try {
    const [stats] = await link.send([['INFO', 'commandstats']]);
    return Buffer.isBuffer(stats) ? commandsIn(stats.toString()) : null;
  } catch {
    return null;
  } finally {
    link.close();
  }
}

async function read<T>(url: string, token?: string): Promise<T | undefined> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(3_000) });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
