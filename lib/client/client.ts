import type * as Api from './answers.ts';
import { type DeliveryCalls, deliveryCalls } from './delivery-calls.ts';
import { type EndpointCalls, endpointCalls } from './endpoint-calls.ts';
import { type JobCalls, jobCalls } from './job-calls.ts';
import { type Runtime, usualRuntime } from './runtime.ts';
import { segment } from './segment.ts';
import { Transport } from './transport.ts';

/*
 * Written in camelCase are the client's own options. Bodies and answers are the API's, untouched, in snake_case: what the
 * OpenAPI document says holds here too.
 */

export interface ClientOptions {
  /** Where the API is, e.g. `https://abc.execute-api.eu-central-1.amazonaws.com`. */
  baseUrl: string;
  /** A bearer token of the API. */
  token: string;
  /** How often a request is repeated after a network error, a 429, or a 5xx that may pass. Default 4. */
  retries?: number;
  /** The longest that one request may take, ms. Default 30,000. */
  timeoutMs?: number;
  fetch?: Runtime['fetch'];
  /** For tests. */
  random?: Runtime['random'];
  /** For tests. */
  nowMs?: Runtime['nowMs'];
  /** For tests. */
  sleep?: Runtime['sleep'];
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface Client extends JobCalls, DeliveryCalls {
  /** The newest batch of this name. */
  batch(name: string, options?: CallOptions): Promise<Api.Batch>;
  readonly endpoints: EndpointCalls;
  accounts(options?: CallOptions): Promise<Api.Account[]>;
  account(id: string, options?: CallOptions): Promise<Api.Account>;
  /** `pause`: nothing is sent for the account. `drain`: no creates. `resume`: everything again. */
  operate(id: string, act: 'pause' | 'drain' | 'resume', options?: CallOptions): Promise<Api.Account>;
  stats(options?: CallOptions): Promise<Api.Stats>;
  /** `degraded` is an answer, not an error. */
  health(options?: CallOptions): Promise<Api.Health>;
}

/**
 * A client of one API with one token. Its calls throw a PollkeeperError for every answer that is none of the good ones, and the
 * signal's reason when they are broken off. Throws a TypeError for options that can't be used.
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(
    {
      baseUrl: readBaseUrl(options.baseUrl),
      token: readToken(options.token),
      retries: wholeNumber('retries', options.retries ?? 4, 0),
      timeoutMs: wholeNumber('timeoutMs', options.timeoutMs ?? 30_000, 1),
    },
    runtimeOf(options),
  );
  const get = async (path: string, call: CallOptions = {}) =>
    (await transport.send({ method: 'GET', path, ...call })).body;
  return {
    ...jobCalls(transport),
    ...deliveryCalls(transport),
    batch: async (name, call) => (await get(`/v1/batches/${segment(name)}`, call)) as Api.Batch,
    endpoints: endpointCalls(transport),
    accounts: async (call) => ((await get('/v1/accounts', call)) as { accounts: Api.Account[] }).accounts,
    account: async (id, call) => (await get(`/v1/accounts/${segment(id)}`, call)) as Api.Account,
    async operate(id, act, call = {}) {
      const path = `/v1/accounts/${segment(id)}/${segment(act)}`;
      return (await transport.send({ method: 'POST', path, ...call })).body as Api.Account;
    },
    stats: async (call) => (await get('/v1/stats', call)) as Api.Stats,
    health: async (call) => (await get('/health', call)) as Api.Health,
  };
}

function runtimeOf({ fetch, random, nowMs, sleep }: ClientOptions): Runtime {
  return {
    ...usualRuntime,
    ...(fetch === undefined ? {} : { fetch }),
    ...(random === undefined ? {} : { random }),
    ...(nowMs === undefined ? {} : { nowMs }),
    ...(sleep === undefined ? {} : { sleep }),
  };
}

/* No message below repeats what it was given: a token may have been put in the wrong place. */

function readBaseUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!usable || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must be an http(s) address without credentials, query or fragment.');
  }
  return url.href.replace(/\/+$/, '');
}

function readToken(given: string): string {
  if (typeof given === 'string' && /^[\x21-\x7e]{1,512}$/.test(given)) return given;
  throw new TypeError('token must be 1 to 512 visible ASCII characters.');
}

function wholeNumber(name: string, value: number, min: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new TypeError(`${name} must be a whole number of at least ${min}.`);
}
