import type { Redis } from '@upstash/redis';
import type { RecordedPause } from '../account-pause.ts';
import { readAccountState } from '../account-state.ts';
import type { AccountOverview, AccountView, JobPlace } from '../account-view.ts';
import { DueSetError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { asDueSetErrors } from './due-set-errors.ts';
import { dueSetKeys } from './keys.ts';
import { scoreMaxMs } from './upstash-due-set.ts';

export interface AccountViewOptions {
  stage: string;
  /** Of the database: kept out of every error. */
  token: string;
  /** Only for how far ahead slots are counted; what is shown is on the set's clock. */
  clock: Pick<Clock, 'nowMs'>;
  /** A test's own clock, ms; Redis' is used without it. */
  nowMs?: () => number;
}

/** A job that is due later than this is only read once in hours, and holds no slot of ours (claim.lua). */
const slotForMs = 1_800_000;

/**
 * One request a call, of five commands, eight for one job; as one transaction, or a job that is admitted meanwhile would be
 * in neither set.
 */
export class UpstashAccountView implements AccountView {
  readonly #redis: Pick<Redis, 'multi'>;
  readonly #given: AccountViewOptions;

  constructor(redis: Pick<Redis, 'multi'>, given: AccountViewOptions) {
    this.#redis = redis;
    this.#given = given;
  }

  async overview(account: string): Promise<AccountOverview> {
    return this.#readOverview(await this.#run(this.#asked(account)));
  }

  async look(account: string, jobId: string): Promise<JobPlace> {
    const { due, waiting } = dueSetKeys(this.#given.stage, account);
    const asked = this.#asked(account).zscore(due, jobId).zrank(due, jobId).zrank(waiting, jobId);
    const replies = await this.#run(asked);
    const [score, ahead, place] = replies.slice(overviewCommands).map(numberOrNull);
    // Beyond any due time of ours: the sweep takes it out.
    const dueAtMs = score !== undefined && score !== null && score >= 0 && score <= scoreMaxMs ? score : null;
    return {
      ...this.#readOverview(replies),
      due: dueAtMs === null ? null : { atMs: Math.floor(dueAtMs), leased: dueAtMs % 1 !== 0, ahead: ahead ?? 0 },
      place: place === null || place === undefined ? null : place + 1,
    };
  }

  async setPaused(account: string, { paused, sinceMs }: RecordedPause): Promise<AccountOverview> {
    const { account: key } = dueSetKeys(this.#given.stage, account);
    const fields: Record<string, string> =
      paused === null ? { paused: '', breaker: '', creates_hold: '' } : { paused: `${paused} ${sinceMs}` };
    // The write comes first, so that what follows tells of it; its own reply is the last.
    const [, ...replies] = await this.#run(this.#asked(account, this.#redis.multi().hset(key, fields)));
    return this.#readOverview(replies);
  }

  #asked(account: string, commands: Commands = this.#redis.multi()): Commands {
    const { due, waiting, account: hash } = dueSetKeys(this.#given.stage, account);
    const nowMs = this.#given.nowMs?.() ?? this.#given.clock.nowMs();
    return commands
      .time()
      .hgetall(hash)
      .zcount(due, '-inf', nowMs + slotForMs)
      .zrange(due, 0, 0, { withScores: true })
      .zcard(waiting);
  }

  #run(commands: Commands): Promise<unknown[]> {
    return asDueSetErrors(this.#given.token, () => commands.exec<unknown[]>());
  }

  #readOverview(replies: readonly unknown[]): AccountOverview {
    const [time, hash, inFlight, first, waiting] = replies;
    const [seconds, micros] = texts(time).map(Number);
    const nowMs = this.#given.nowMs?.() ?? Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    const counts = { inFlight: Number(inFlight), waiting: Number(waiting) };
    if (!Object.values({ nowMs, ...counts }).every(Number.isFinite)) {
      throw new DueSetError('refused', 'Redis told no time, or counts that are none.');
    }
    // A lease ends in the future: a score that lies in the past is due, and in nobody's hand.
    const oldestMs = Number(texts(first)[1] ?? nowMs);
    const dueLagMs = Number.isFinite(oldestMs) ? Math.max(0, Math.floor(nowMs - oldestMs)) : 0;
    return { nowMs, state: readAccountState(pairs(hash), nowMs), ...counts, dueLagMs };
  }
}

type Commands = ReturnType<Redis['multi']>;

const overviewCommands = 5;

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

function numberOrNull(reply: unknown): number | null {
  return reply === null || reply === undefined ? null : Number(reply);
}

/** A hash comes as a flat list of names and values; an absent one as an empty list. */
function pairs(reply: unknown): Record<string, string> {
  const flat = texts(reply);
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])));
}
