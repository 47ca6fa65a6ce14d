import { createHash } from 'node:crypto';
import { Redis } from '@upstash/redis';
import { type AccountLimits, noLimits } from '../accounts.ts';
import { messageOf } from '../errors.ts';
import type { DueSet, Entry, ExchangeReply, ExchangeRequest, WaitingEntry } from '../ports.ts';
import { asDueSetErrors } from './due-set-errors.ts';
import { exchangeArguments } from './exchange-arguments.ts';
import { readExchange, texts } from './exchange-reply.ts';
import { type DueSetKeys, dueSetKeys } from './keys.ts';
import { enqueueScript, exchangeScript, scheduleScript, tidyScript } from './scripts.gen.ts';

/** Most settlements and claims in one exchange: Lua unpacks under 8,000 values into one command. */
export const exchangeMax = 3_900;
const scheduleMax = 1_900;
const enqueueMax = 900;

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

type ScriptRunner = Pick<Redis, 'eval' | 'evalsha' | 'zmscore' | 'zrem' | 'time' | 'pipeline'>;

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
  /** Of the account: kept to by every exchange. None without it. */
  limits?: AccountLimits;
  /** A test's own clock, ms; Redis' is used without it. */
  nowMs?: () => number;
}

export class UpstashDueSet implements DueSet {
  readonly #redis: ScriptRunner;
  readonly #keys: DueSetKeys;
  readonly #account: string;
  readonly #lease: LeaseSettings;
  readonly #limits: AccountLimits;
  readonly #token: string;
  readonly #nowMs: (() => number) | undefined;
  readonly #exchange: Script;
  readonly #schedule: Script;
  readonly #enqueue: Script;
  readonly #tidy: Script;

  constructor(redis: ScriptRunner, given: DueSetOptions) {
    const prefix = new URL(given.url).hostname.endsWith('.upstash.io') ? keyLocking : '';
    this.#redis = redis;
    this.#keys = dueSetKeys(given.stage, given.account);
    this.#account = given.account;
    this.#lease = given.lease;
    this.#limits = given.limits ?? noLimits;
    this.#token = given.token;
    this.#nowMs = given.nowMs;
    this.#exchange = new Script(prefix + exchangeScript);
    this.#schedule = new Script(prefix + scheduleScript);
    this.#enqueue = new Script(prefix + enqueueScript);
    this.#tidy = new Script(prefix + tidyScript);
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    if (request.settlements.length > exchangeMax) {
      throw new RangeError(`An exchange takes at most ${exchangeMax} settlements, not ${request.settlements.length}.`);
    }
    const args = exchangeArguments(request, {
      ...this.#lease,
      claimMax: Math.min(request.claimMax, exchangeMax),
      now: this.#now(),
      limits: this.#limits,
      account: this.#account,
    });
    return readExchange(await this.#run(this.#exchange, [...this.#sharedKeys, this.#keys.deadlines], args));
  }

  async schedule(entries: readonly Entry[], mode?: 'pull'): Promise<{ added: number; wake: boolean }> {
    const pull = mode === 'pull' ? '1' : '';
    const argsOf = ({ id, delayMs, leaves }: Entry) => [
      String(Math.max(0, Math.ceil(delayMs))),
      id,
      leaves === undefined ? '' : `${9 - leaves.priority} ${leaves.owner}`,
    ];
    return this.#addAll(this.#schedule, [...this.#sharedKeys, this.#keys.owners], entries, scheduleMax, [pull], argsOf);
  }

  async enqueue(entries: readonly WaitingEntry[]): Promise<{ added: number; wake: boolean }> {
    const { owners, deadlines } = this.#keys;
    const argsOf = ({ id, owner, priority, expiresInMs }: WaitingEntry) => [
      id,
      owner,
      String(priority),
      String(Math.max(0, Math.ceil(expiresInMs))),
    ];
    return this.#addAll(this.#enqueue, [...this.#sharedKeys, owners, deadlines], entries, enqueueMax, [], argsOf);
  }

  async tidy(): Promise<{ expired: number; wake: boolean }> {
    const keys = [...this.#sharedKeys, this.#keys.owners, this.#keys.deadlines];
    const [expired, wake] = texts(await this.#run(this.#tidy, keys, this.#wakeArguments()));
    return { expired: Number(expired), wake: wake === '1' };
  }

  get #sharedKeys(): string[] {
    const { due, waiting, account, busy } = this.#keys;
    return [due, waiting, account, busy];
  }

  #wakeArguments(): string[] {
    return [String(wakeGraceMs), this.#now(), this.#account];
  }

  async #addAll<E>(
    script: Script,
    keys: string[],
    entries: readonly E[],
    max: number,
    given: readonly string[],
    argsOf: (entry: E) => string[],
  ): Promise<{ added: number; wake: boolean }> {
    let added = 0;
    let wake = false;
    for (let start = 0; start < entries.length; start += max) {
      const args = entries.slice(start, start + max).flatMap(argsOf);
      const reply = texts(await this.#run(script, keys, [...this.#wakeArguments(), ...given, ...args]));
      added += Number(reply[0]);
      wake ||= reply[1] === '1';
    }
    return { added, wake };
  }

  async workload(): Promise<{ jobs: number; paused: boolean }> {
    const { due, waiting, account } = this.#keys;
    const ask = this.#redis.pipeline().zcard(due).zcard(waiting).hget(account, 'paused');
    const [isDue, inLine, paused] = await this.#reported(() => ask.exec<[unknown, unknown, unknown]>());
    return { jobs: Number(isDue) + Number(inLine), paused: (paused ?? '') !== '' };
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

  #reported<T>(call: () => Promise<T>): Promise<T> {
    return asDueSetErrors(this.#token, call);
  }
}

/** No release of ours writes a score beyond the year 2100: such an id would never come due. */
export const scoreMaxMs = 4_102_444_800_000;

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
