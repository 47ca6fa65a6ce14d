import type { WindowKind } from './api/rate-limit.ts';

/** Per workspace. `processing` and `queued` are places, the others requests per modelled minute or day. */
type Limits = {
  processing: number;
  queued: number;
  readsPerMinute: number;
  readsPerDay: number;
  createsPerMinute: number;
  createsPerDay: number;
};

type SecondsRange = { least: number; most: number };

export type SumeSimulatorOptions = {
  /** 0 (the default) takes a free port. */
  port?: number;
  /** The keys to accept, each its own workspace. By default any non-empty key is. */
  apiKeys?: string[];
  /** 20 makes everything 20 times quicker: render times, suggested waits, rate-limit windows, Retry-After. Default 1. */
  timeScale?: number;
  /** Decides job ids, render times and which jobs fail. By default the data directory's, else a new one at every start. */
  seed?: string;
  /** Where jobs, money and idempotency keys are kept over restarts, a SIGKILL included. By default nothing is kept. */
  dataDir?: string;
  /** Overrides of single limits; `false` switches admission and rate limits off, and with them the rate-limit headers. */
  limits?: Partial<Limits> | false;
  /** How a minute and a day are counted: from the first request after the last one ran out (the default), or back from each request. */
  window?: WindowKind;
  /** Answer shape: new fields at the top level, the older `data` envelope, or both in one body (the default). */
  form?: 'new' | 'old' | 'both';
  /** Time between a request's effect and its answer, in milliseconds: mean ± spread, evenly. Default none. */
  answerDelayMs?: { mean: number; spread: number };
  /** Render time of every job, in seconds before the time scale, in place of the realistic spread: fixed, or evenly from a range. */
  renderSeconds?: number | SecondsRange;
  /** Share of the jobs that fail, 0 (the default) to 1. */
  failureShare?: number;
  /** What a workspace owns at the start, in micro-dollars. Default 10,000 dollars. */
  startBalanceUsdMicros?: number;
  /** How long a media address is good for, in seconds, not scaled. Default 3,600. */
  mediaSeconds?: number;
  /** Also serve media over HTTPS, with a certificate of its own (see `mediaCertificate`), because Sume's CLI downloads nothing else. */
  mediaHttps?: boolean;
  /**
   * The signing secret of webhooks, one for all or by API key. Without one none are sent, as for a workspace that has not set
   * them up; it can also be given by the control endpoint.
   */
  webhookSecret?: string | Record<string, string>;
  /** When set, control requests must carry it as `x-control-token`. */
  controlToken?: string;
  /** Unix milliseconds; for tests. */
  nowMs?: () => number;
  /** Milliseconds that never go back, with fractions: the clock of the observations; for tests. */
  monotonicMs?: () => number;
};

export type Settings = Omit<
  Required<SumeSimulatorOptions>,
  'seed' | 'dataDir' | 'limits' | 'renderSeconds' | 'apiKeys' | 'controlToken' | 'webhookSecret'
> & {
  seed: string | undefined;
  dataDir: string | undefined;
  renderSeconds: SecondsRange | undefined;
  controlToken: string | undefined;
  webhookSecret: SumeSimulatorOptions['webhookSecret'];
  apiKeys: ReadonlySet<string> | undefined;
  limits: Limits;
};

const PRO_PLAN: Limits = {
  processing: 4,
  queued: 20,
  readsPerMinute: 120,
  readsPerDay: 10_000,
  createsPerMinute: 10,
  createsPerDay: 300,
};
const NO_LIMITS: Limits = {
  processing: Number.POSITIVE_INFINITY,
  queued: Number.POSITIVE_INFINITY,
  readsPerMinute: Number.POSITIVE_INFINITY,
  readsPerDay: Number.POSITIVE_INFINITY,
  createsPerMinute: Number.POSITIVE_INFINITY,
  createsPerDay: Number.POSITIVE_INFINITY,
};

/** Fills in the defaults. Throws a RangeError naming the option that cannot be used. */
export function readSettings(options: SumeSimulatorOptions): Settings {
  const settings: Settings = {
    port: options.port ?? 0,
    apiKeys: options.apiKeys && new Set(options.apiKeys),
    timeScale: options.timeScale ?? 1,
    seed: options.seed,
    dataDir: options.dataDir,
    limits: options.limits === false ? NO_LIMITS : { ...PRO_PLAN, ...options.limits },
    window: options.window ?? 'fixed',
    form: options.form ?? 'both',
    answerDelayMs: options.answerDelayMs ?? { mean: 0, spread: 0 },
    renderSeconds: rangeOf(options.renderSeconds),
    failureShare: options.failureShare ?? 0,
    startBalanceUsdMicros: options.startBalanceUsdMicros ?? 10_000_000_000,
    mediaSeconds: options.mediaSeconds ?? 3_600,
    mediaHttps: options.mediaHttps ?? false,
    controlToken: options.controlToken,
    webhookSecret: options.webhookSecret,
    nowMs: options.nowMs ?? Date.now,
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
  };
  demand(settings.timeScale > 0, 'timeScale', settings.timeScale, 'a number above 0, e.g. 20');
  const share = settings.failureShare;
  demand(share >= 0 && share <= 1, 'failureShare', share, 'a number from 0 to 1, e.g. 0.05');
  const { least, most } = settings.renderSeconds ?? { least: 0, most: 0 };
  const given = least === most ? most : `${least} to ${most}`;
  demand(least >= 0 && most >= least, 'renderSeconds', given, 'a number of seconds, e.g. 60, or { least, most }');
  demand(['fixed', 'sliding'].includes(settings.window), 'window', settings.window, 'fixed or sliding');
  for (const [name, limit] of Object.entries(settings.limits)) {
    demand(limit >= 0, `limits.${name}`, limit, 'a number, or Infinity for none');
  }
  return settings;
}

function rangeOf(seconds: number | SecondsRange | undefined): SecondsRange | undefined {
  return typeof seconds === 'number' ? { least: seconds, most: seconds } : seconds;
}

function demand(holds: boolean, option: string, value: unknown, expected: string): void {
  if (!holds) throw new RangeError(`Sume simulator: option ${option} is ${String(value)}; expected ${expected}.`);
}
