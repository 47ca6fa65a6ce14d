import { createHash } from 'node:crypto';
import { Redis } from '@upstash/redis';
import { DueSetError, messageOf } from '../errors.ts';
import type { BreakerState, Claim, DueSet, Entry, ExchangeReply, ExchangeRequest, Settlement } from '../ports.ts';
import { type DueSetKeys, dueSetKeys } from './keys.ts';
import { exchangeScript, scheduleScript } from './scripts.gen.ts';

/** Most settlements and claims in one exchange: Lua unpacks under 8,000 values into one command. */
export const exchangeMax = 3_900;
const scheduleMax = 1_900;

/** How a due set claims. `leaseMs` must be longer than a few ticks; `aheadMs` a little longer than one tick. */
export interface LeaseSettings {
  leaseMs: number;
  aheadMs: number;
}

export interface UpstashConnection {
  url: string;
  token: string;
  timeoutMs: number;
}

/**
 * The REST client as this product needs it: one request a call (a repeated exchange would claim twice), one call a
 * request (no pipelining behind our back), replies as they are, a time limit on each.
 */
export function connectUpstash({ url, token, timeoutMs }: UpstashConnection): Redis {
  return new Redis({
    url,
    token,
    retry: { retries: 0 },
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
    enableTelemetry: false,
    signal: () => AbortSignal.timeout(timeoutMs),
  });
}

type ScriptRunner = Pick<Redis, 'eval' | 'evalsha' | 'zmscore' | 'zrem' | 'time'>;

/** Upstash runs a script under a lock of the whole database unless told that it touches its KEYS only. Plain Redis refuses the line. */
const keyLocking = '#!lua flags=allow-key-locking\n';

export interface DueSetOptions {
  stage: string;
  account: string;
  /** Of the database: decides how a script is sent. */
  url: string;
  /** Of the database: kept out of every error. */
  token: string;
  lease: LeaseSettings;
  /** A test's own clock, ms; Redis' is used without it. */
  nowMs?: () => number;
}

export class UpstashDueSet implements DueSet {
  readonly #redis: ScriptRunner;
  readonly #keys: DueSetKeys;
  readonly #lease: LeaseSettings;
  readonly #token: string;
  readonly #nowMs: (() => number) | undefined;
  readonly #exchange: Script;
  readonly #schedule: Script;

  constructor(redis: ScriptRunner, given: DueSetOptions) {
    const prefix = new URL(given.url).hostname.endsWith('.upstash.io') ? keyLocking : '';
    this.#redis = redis;
    this.#keys = dueSetKeys(given.stage, given.account);
    this.#lease = given.lease;
    this.#token = given.token;
    this.#nowMs = given.nowMs;
    this.#exchange = new Script(prefix + exchangeScript);
    this.#schedule = new Script(prefix + scheduleScript);
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    if (request.settlements.length > exchangeMax) {
      throw new RangeError(`An exchange takes at most ${exchangeMax} settlements, not ${request.settlements.length}.`);
    }
    const args = [
      String(this.#lease.leaseMs),
      String(this.#lease.aheadMs),
      String(Math.min(request.claimMax, exchangeMax)),
      String(Math.max(0, Math.floor(request.windowMs))),
      request.role,
      String(request.inHand),
      this.#now(),
      request.provider?.kind ?? '',
      request.provider === undefined ? '' : String(Math.max(1, Math.round(request.provider.meanGapMs))),
      ...request.settlements.flatMap(triple),
    ];
    const { due, awake, breaker } = this.#keys;
    return readExchange(await this.#run(this.#exchange, [due, awake, breaker], args));
  }

  async schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    const { due, awake } = this.#keys;
    const pull = mode === 'pull' ? '1' : '';
    let added = 0;
    let wake = false;
    for (let start = 0; start < entries.length; start += scheduleMax) {
      const chunk = entries.slice(start, start + scheduleMax);
      const args = chunk.flatMap(({ id, delayMs }) => [String(Math.max(0, Math.ceil(delayMs))), id]);
      const [addedText, wakeText] = texts(
        await this.#run(this.#schedule, [due, awake], [String(wakeGraceMs), this.#now(), pull, ...args]),
      );
      added += Number(addedText);
      wake ||= wakeText === '1';
    }
    return { added, wake };
  }

  async nowMs(): Promise<number> {
    if (this.#nowMs !== undefined) return this.#nowMs();
    const [seconds, micros] = texts(await this.#reported(() => this.#redis.time()));
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  async absent(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const scores = await this.#reported(() => this.#redis.zmscore(this.#keys.due, [...ids]));
    const held = new Map(ids.map((id, index) => [id, scores?.[index] ?? null]));
    const unheard = ids.filter((id) => Number(held.get(id) ?? 0) > scoreMaxMs);
    if (unheard.length > 0) await this.#reported(() => this.#redis.zrem(this.#keys.due, ...unheard));
    return ids.filter((id) => held.get(id) === null || unheard.includes(id));
  }

  #now(): string {
    return this.#nowMs === undefined ? '' : String(this.#nowMs());
  }

  /** By its digest; sent whole when Redis does not know it (a restart empties its script cache). Once, never in a loop. */
  async #run(script: Script, keys: string[], args: string[]): Promise<unknown> {
    return this.#reported(async () => {
      try {
        return await this.#redis.evalsha(script.sha1, keys, args);
      } catch (error) {
        if (!messageOf(error).includes('NOSCRIPT')) throw error;
        return await this.#redis.eval(script.text, keys, args);
      }
    });
  }

  /** Runs a call and turns what it throws into a DueSetError. The client puts the whole command into its messages: it is cut off. */
  async #reported<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof DueSetError) throw error;
      const message = messageOf(error)
        .replace(/,? command was:.*/s, '')
        .replaceAll(this.#token, '[redacted]');
      throw new DueSetError(codeOf(error, message), message);
    }
  }
}

/** No release of ours writes a score beyond the year 2100: such an id would never come due. */
const scoreMaxMs = 4_102_444_800_000;

/** How long a drain that was just woken has to show itself before a further submit wakes another. */
const wakeGraceMs = 5_000;

class Script {
  readonly text: string;
  readonly sha1: string;

  constructor(text: string) {
    this.text = text;
    this.sha1 = createHash('sha1').update(text).digest('hex');
  }
}

function triple({ id, token, to }: Settlement): [string, string, string] {
  return [id, token, to.kind === 'due' ? String(Math.ceil(to.atMs)) : to.kind === 'renew' ? to.token : 'remove'];
}

function readExchange(reply: unknown): ExchangeReply {
  if (!Array.isArray(reply) || reply.length !== 6) {
    throw new DueSetError(
      'refused',
      `Expected six values from the exchange script, got ${JSON.stringify(reply)?.slice(0, 100)}.`,
    );
  }
  const [nowMs, nextDue, role] = texts(reply.slice(0, 3));
  if (!isRole(role)) throw new DueSetError('refused', 'The exchange script told no role.');
  if (!Number.isFinite(Number(nowMs))) throw new DueSetError('refused', 'The exchange script told no time.');
  const claimed = texts(reply[3]);
  const claims: Claim[] = [];
  for (let i = 0; i + 3 < claimed.length; i += 4) {
    const [id = '', dueAtMs, token = '', count] = claimed.slice(i, i + 4);
    claims.push({ id, dueAtMs: Number(dueAtMs), token, claims: Number(count) });
  }
  return {
    nowMs: Number(nowMs),
    claimed: claims,
    stale: texts(reply[4]),
    role,
    nextDueAtMs: nextDue === '' ? null : Number(nextDue),
    breaker: readBreaker(String(reply[5])),
  };
}

function isRole(text: string | undefined): text is ExchangeReply['role'] {
  return text !== undefined && /^(first|further .*|helper|leave|covered)$/.test(text);
}

function readBreaker(text: string): BreakerState {
  if (text === '') return { kind: 'closed' };
  return text === 'open' ? { kind: 'open' } : { kind: 'recovering', gapMs: Number(text) };
}

/** An empty Lua table comes back as an empty list, or from some JSON encoders as `{}`. */
function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

function codeOf(error: unknown, message: string): DueSetError['code'] {
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  if (/max (daily )?requests? limit|capacity quota|\bOOM\b/.test(message)) return 'limit';
  return name === 'UpstashError' || name === 'UpstashJSONParseError' ? 'refused' : 'unreachable';
}
