import type { Recovery } from './recovery.ts';

/** What a run of chaos found. */
export interface ChaosFigures {
  /** Every check held. */
  ok: boolean;
  /** Those that did not, in words. */
  failed: string[];
  submitted: number;
  /** How many jobs ended how. */
  terminal: Record<string, number>;
  unfinished: number;
  /** Accepted jobs without a record, or active and in no due set. */
  lost: number;
  /** Jobs whose state or result is not what the provider has. */
  wrong: number;
  /** Jobs that got two ids, or more than one clip. */
  split: number;
  billedClips: number;
  /** Reads of a job while another one of it was under way; not those of jobs that a killed drain had. */
  duplicateReads: number;
  /** Those of jobs that a killed drain had. */
  excusedDuplicateReads: number;
  /** Reads before the last answer's own suggestion. */
  earlyReads: number;
  worstEarlinessMs: number;
  reads: number;
  kills: number;
  killed: { drain: number; sweep: number; api: number; redis: number };
  redisRestarts: number;
  /** How many requests were struck, by kind. */
  faults: Record<string, number>;
  maxRecoverySeconds: number;
  recovery: Recovery;
  /** What the functions said of themselves. */
  functions: { drainsEnded: Record<string, number>; drains: Record<string, number>; sweeps: number; restored: number };
  clientRetries: number;
  seconds: number;
  seed: string;
}

const recoverySecondsMax = 15;

/** Every check that the figures don't meet, in words. `wanted`: jobs and kills as asked for. */
export function failedChecks(figures: ChaosFigures, wanted: { jobs: number; kills: number }): string[] {
  const { submitted, unfinished, lost, wrong, split, billedClips, duplicateReads, earlyReads } = figures;
  const checks: [holds: boolean, otherwise: string][] = [
    [submitted === wanted.jobs, `${submitted} of ${wanted.jobs} jobs were accepted`],
    [figures.kills === wanted.kills, `${figures.kills} of ${wanted.kills} kills were done`],
    [unfinished === 0, `${unfinished} jobs had not ended in time`],
    [lost === 0, `${lost} jobs were lost`],
    [wrong === 0, `${wrong} jobs say something else than the provider`],
    [split === 0, `${split} jobs became more than one`],
    [billedClips === submitted, `${billedClips} clips were billed for ${submitted} jobs`],
    [duplicateReads === 0, `${duplicateReads} reads were made while another of the same job was under way`],
    [
      earlyReads === 0,
      `${earlyReads} reads came before the provider's suggestion, by up to ${figures.worstEarlinessMs} ms`,
    ],
    [
      figures.maxRecoverySeconds <= recoverySecondsMax,
      `a killed drain's job was read again only after ${figures.maxRecoverySeconds} s`,
    ],
  ];
  return checks.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]));
}

/** The figures for people. */
export function summaryLines(figures: ChaosFigures): string[] {
  const { killed, recovery, terminal } = figures;
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ') || 'none';
  return [
    `Seed ${figures.seed}, ${figures.seconds} s.`,
    `Jobs     ${figures.submitted} submitted; ${list(terminal)}; ${figures.unfinished} unfinished, ${figures.lost} lost, ${figures.wrong} wrong`,
    `Clips    ${figures.billedClips} billed`,
    `Reads    ${figures.reads}; ${figures.duplicateReads} twice at once, ${figures.earlyReads} too early`,
    `Kills    ${figures.kills}: ${list(killed)}`,
    `Faults   ${list(figures.faults)}`,
    `Recovery ${recovery.measured} jobs of killed drains, read again after ${recovery.meanSeconds} s on average, ${figures.maxRecoverySeconds} s at most`,
    figures.ok ? 'Every check held.' : `NOT held: ${figures.failed.join('; ')}.`,
  ];
}
