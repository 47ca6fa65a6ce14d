import type { WatchReport } from './read-watch.ts';

/* What the benchmark and its processes say to each other, over Node's channel between parent and child. */

/** To every worker, once, after everything is prepared. Wall-clock times in ms since 1970. */
export interface WorkOrder {
  kind: 'work';
  statusUrl: string;
  concurrency: number;
  jobs: number;
  polls: number;
  /** When job n is due first: `firstDueAtMs + n × dueStepMs`. */
  firstDueAtMs: number;
  dueStepMs: number;
}

/** To the status server: forget the last run and serve this one. */
export interface StatusPlan {
  kind: 'plan';
  jobs: number;
  polls: number;
  hintSeconds: number;
  answerMs: { mean: number; spread: number };
  firstDueAtMs: number;
  dueStepMs: number;
}

export type StatusRequest = StatusPlan | { kind: 'killed' } | { kind: 'progress' } | { kind: 'report' };

export interface StatusProgress {
  reads: number;
  ended: number;
  /** Since the last read, or since the plan was made; ms. */
  quietMs: number;
}

export type StatusReply =
  | { kind: 'done' }
  | ({ kind: 'progress' } & StatusProgress)
  | ({ kind: 'report' } & WatchReport);
