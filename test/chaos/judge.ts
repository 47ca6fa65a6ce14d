import type { DrainKill } from './drains.ts';
import { type ChaosFigures, failedChecks } from './figures.ts';
import type { LostClaim } from './lease-book.ts';
import type { ProviderCall } from './messages.ts';
import type { ChaosOptions } from './options.ts';
import type { Victim } from './plan.ts';
import { recoveryOf } from './recovery.ts';
import type { Truth } from './truth.ts';

/** What the simulator itself counts. */
export interface ProviderReport {
  billedClips: number;
  providerReads: number;
  earlyReads: number;
  worstEarlinessMs: number;
}

/** All that was seen of a run. */
export interface Evidence {
  wanted: Pick<ChaosOptions, 'jobs' | 'kills' | 'seed'>;
  truth: Truth;
  /** In order. */
  calls: readonly ProviderCall[];
  /** What the due set still held at the end. */
  inSet: readonly string[];
  killed: Record<Victim, number>;
  drainKills: readonly DrainKill[];
  provider: ProviderReport;
  redis: { lostClaims: readonly LostClaim[]; wipesAtMs: readonly number[] };
  client: { accepted: number; split: number; retries: number };
  faults: Record<string, number>;
  functions: ChaosFigures['functions'];
  seconds: number;
}

/** A read on a connection that died with its drain may still be under way at the provider for a moment; not for longer. */
const excusedWithinMs = 1_000;

export function judge(evidence: Evidence): ChaosFigures {
  const { wanted, truth, provider, redis, client, killed, drainKills, functions, seconds } = evidence;
  const idOf = jobIds(truth);
  const recovery = recoveryOf({
    kills: drainKills,
    ...redis,
    callsAtMs: callTimes(evidence.calls, idOf),
  });
  const overlapping = evidence.calls.filter(({ overlaps }) => overlaps);
  const isExcused = (call: ProviderCall) =>
    drainKills.some(({ atMs, inHand }) => {
      const sinceMs = call.atMs - atMs;
      return sinceMs >= 0 && sinceMs <= excusedWithinMs && inHand.includes(idOf(call));
    });
  const excused = overlapping.filter(isExcused).length;
  const figures: ChaosFigures = {
    ok: false,
    failed: [],
    submitted: client.accepted,
    terminal: truth.terminal,
    unfinished: truth.active.length,
    lost: truth.absent.length + truth.active.filter((id) => !evidence.inSet.includes(id)).length,
    wrong: truth.wrong.length,
    split: client.split + truth.twice.length,
    billedClips: provider.billedClips,
    duplicateReads: overlapping.length - excused,
    excusedDuplicateReads: excused,
    earlyReads: provider.earlyReads,
    worstEarlinessMs: Math.ceil(provider.worstEarlinessMs),
    reads: provider.providerReads,
    kills: Object.values(killed).reduce((sum, one) => sum + one, 0),
    killed,
    redisRestarts: redis.wipesAtMs.length,
    faults: evidence.faults,
    maxRecoverySeconds: recovery.maxSeconds,
    recovery,
    functions,
    clientRetries: client.retries,
    seconds,
    seed: wanted.seed,
  };
  figures.failed = failedChecks(figures, wanted);
  const leftOver = evidence.inSet.filter((id) => !truth.active.includes(id)).length;
  if (leftOver > 0) figures.failed.push(`${leftOver} ended jobs were left in the due set`);
  return { ...figures, ok: figures.failed.length === 0 };
}

/** Which job a call is about: a create tells by its key, a read by the provider's id. */
function jobIds({ views }: Truth): (call: ProviderCall) => string {
  const byProviderId = new Map(views.map(({ id, provider }) => [provider.job_id, id]));
  return ({ kind, about }) =>
    kind === 'read' ? (byProviderId.get(about) ?? about) : (/job_\w+$/.exec(about)?.[0] ?? about);
}

function callTimes(calls: readonly ProviderCall[], idOf: (call: ProviderCall) => string): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const call of calls) {
    const list = times.get(idOf(call));
    if (list === undefined) times.set(idOf(call), [call.atMs]);
    else list.push(call.atMs);
  }
  return times;
}
