import type { Observations } from './observations.ts';

/*
 * What came with one API key, counted strictly and second by second, so that a judge can tell from outside whether its limits
 * were kept. Reads are all requests but creates, as in the rate limits. Seconds and minutes: the first are seconds of the clock,
 * the minute is the modelled one, as much shorter as the time scale says.
 */

type Counts = {
  reads: number;
  creates: number;
  readsRefused: number;
  /** For want of a place in the rate limit. */
  createsRefusedForRate: number;
  /** For want of a place among those that render and wait. */
  createsRefusedForRoom: number;
};

export type KeyLog = {
  readonly counts: Counts;
  /** By Unix second; a second without a request has no entry. */
  readonly seconds: Map<number, Counts>;
  readonly peaks: { reads: number; creates: number };
  readonly recent: { reads: Recent; creates: Recent };
};

/** When the requests of the last minute came, oldest first, from the place `first` on; those before it are older. */
type Recent = { times: number[]; first: number };

/** `perMinuteMost`: the most requests within any one minute, however it lies, those refused among them. */
export type KeyReport = Counts & {
  workspace: string;
  perMinuteMost: { reads: number; creates: number };
  seconds: (Counts & { atSecond: number })[];
};

const none: Counts = { reads: 0, creates: 0, readsRefused: 0, createsRefusedForRate: 0, createsRefusedForRoom: 0 };

export function keyLogOf({ keys }: Pick<Observations, 'keys'>, workspace: string): KeyLog {
  const known = keys.get(workspace);
  if (known !== undefined) return known;
  const log: KeyLog = {
    counts: { ...none },
    seconds: new Map(),
    peaks: { reads: 0, creates: 0 },
    recent: { reads: { times: [], first: 0 }, creates: { times: [], first: 0 } },
  };
  keys.set(workspace, log);
  return log;
}

/** A request has come in, whatever becomes of it. */
export function noteRequest(log: KeyLog, kind: 'reads' | 'creates', nowMs: number, minuteMs: number): void {
  add(log, kind, nowMs);
  const recent = log.recent[kind];
  recent.times.push(nowMs);
  while (nowMs - (recent.times[recent.first] ?? nowMs) >= minuteMs) recent.first += 1;
  // Taking each off the front by itself would move all the others every time.
  if (recent.first > 1_000) {
    recent.times.splice(0, recent.first);
    recent.first = 0;
  }
  log.peaks[kind] = Math.max(log.peaks[kind], recent.times.length - recent.first);
}

/** The request that was noted last is refused by a limit of the key. */
export function noteRefusal(
  log: KeyLog,
  kind: 'readsRefused' | 'createsRefusedForRate' | 'createsRefusedForRoom',
  nowMs: number,
): void {
  add(log, kind, nowMs);
}

export function keyReport([workspace, { counts, peaks, seconds }]: [string, KeyLog]): KeyReport {
  return {
    workspace,
    ...counts,
    perMinuteMost: { ...peaks },
    seconds: [...seconds].map(([atSecond, second]) => ({ atSecond, ...second })),
  };
}

function add(log: KeyLog, name: keyof Counts, nowMs: number): void {
  const atSecond = Math.floor(nowMs / 1000);
  let second = log.seconds.get(atSecond);
  if (second === undefined) {
    second = { ...none };
    log.seconds.set(atSecond, second);
  }
  second[name] += 1;
  log.counts[name] += 1;
}
