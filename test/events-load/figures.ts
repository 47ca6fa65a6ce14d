import type { Spread } from '../bench/percentiles.ts';

/** What a run found. All times in ms. */
export interface LoadFigures {
  /** Every target was met. */
  ok: boolean;
  /** Those that were not, in words. */
  failed: string[];
  good: {
    sent: number;
    /** Different ones that arrived. */
    arrived: number;
    repeats: number;
    /** From the event's own time, when the job's end was noted, to its first arrival. */
    delayMs: Spread;
  };
  /** `attempts`: requests that came there, none of which was answered in time. */
  hanging: { sent: number; attempts: number };
  /** How late the steady jobs were read. */
  steady: { jobs: number; without: Spread; with: Spread };
  /** Load of the machine in the last minute, as the system tells it; two cores are busy at 2. */
  machineLoad: number;
  seconds: number;
}

export type Measured = Omit<LoadFigures, 'ok' | 'failed'>;

const delayP95MaxMs = 2_000;
const latenessFactor = 1.5;
const latenessExtraMs = 5;

/** The target for the p99 of the reads' lateness with deliveries, by what it was without. */
function latenessMaxMs(withoutP99Ms: number): number {
  return latenessFactor * withoutP99Ms + latenessExtraMs;
}

export function judged(measured: Measured): LoadFigures {
  const { good, steady } = measured;
  const p95 = good.delayMs.p95 ?? Number.POSITIVE_INFINITY;
  const maxMs = latenessMaxMs(steady.without.p99 ?? 0);
  const p99 = steady.with.p99 ?? Number.POSITIVE_INFINITY;
  const checks: [holds: boolean, otherwise: string][] = [
    [good.arrived === good.sent, `${good.arrived} of ${good.sent} events came to the good receiver`],
    [p95 < delayP95MaxMs, `the p95 of their delay is ${p95} ms, not under ${delayP95MaxMs}`],
    [p99 <= maxMs, `the p99 of the lateness is ${p99} ms with deliveries, over ${Math.round(maxMs)}`],
  ];
  const failed = checks.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]));
  return { ok: failed.length === 0, failed, ...measured };
}

/** The figures for people. */
export function summaryLines(figures: LoadFigures): string[] {
  const { good, hanging, steady } = figures;
  const row = (name: string, { p50, p95, p99, max, count }: Spread) =>
    [name.padEnd(34), ...[p50, p95, p99, max].map((ms) => inMs(ms).padStart(9)), String(count).padStart(8)].join('');
  return [
    `${''.padEnd(34)}${['p50', 'p95', 'p99', 'max'].map((head) => head.padStart(9)).join('')}${'count'.padStart(8)}`,
    row('Delay of events, good receiver', good.delayMs),
    row('Lateness of reads, no deliveries', steady.without),
    row('Lateness of reads, with deliveries', steady.with),
    `${good.arrived} of ${good.sent} events arrived, ${good.repeats} of them twice; ${hanging.attempts} attempts at the receiver that hangs, for ${hanging.sent} events.`,
    `Targets: p95 of the delay under 2 s; p99 of the lateness at most 1.5 × ${inMs(steady.without.p99)} + 5 ms = ${Math.round(latenessMaxMs(steady.without.p99 ?? 0))} ms.`,
    `The machine's load was ${figures.machineLoad}; the database is dynalite, in a process of its own; it took ${figures.seconds} s.`,
    figures.ok ? 'Every target was met.' : `NOT met: ${figures.failed.join('; ')}.`,
  ];
}

function inMs(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)} ms`;
}
