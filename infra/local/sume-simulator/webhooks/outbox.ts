import { endAnnounced, type Observations } from '../control/observations.ts';
import { isTerminal, type Job } from '../job.ts';
import type { Settings } from '../settings.ts';
import { advanceAll, type World, workspaceIdOf } from '../world.ts';
import { postWebhook } from './post-webhook.ts';
import { signedHeaders, type Webhook, webhookOf } from './signed-webhook.ts';
import { strikeWebhook, type WebhookFaultRule } from './webhook-faults.ts';

/*
 * Tells the ends of jobs whose create had a `webhook_url`, when their workspace has a signing secret: at once, and after each
 * attempt that is not answered by a 2xx once more, three times. What is open ends with the process.
 */

/** What became of one webhook. Attempts: the HTTP status of each, or null where there was no answer. */
export type WebhookLog = {
  readonly jobId: string;
  readonly eventId: string;
  readonly state: string;
  readonly faults: readonly string[];
  attempts: { atMs: number; status: number | null }[];
  outcome: 'open' | 'delivered' | 'given_up' | 'dropped';
};

/** Seconds before each retry, before the time scale. */
const RETRY_SECONDS = [1, 5, 15];
const WATCH_MS = 20;
const LOGS_MAX = 10_000;

export class Outbox {
  readonly logs: WebhookLog[] = [];
  rules: WebhookFaultRule[] = [];
  /** By workspace; '' is for all that have none of their own. */
  readonly #secrets = new Map<string, string>();
  readonly #world: World;
  readonly #settings: Settings;
  readonly #random: () => number;
  readonly #seen: Observations;
  readonly #watched = new Set<Job>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #closed = new AbortController();
  #watch: NodeJS.Timeout | undefined;

  constructor(world: World, settings: Settings, random: () => number, seen: Observations) {
    this.#world = world;
    this.#settings = settings;
    this.#random = random;
    this.#seen = seen;
    const { webhookSecret } = settings;
    const byKey = typeof webhookSecret === 'string' ? { '': webhookSecret } : (webhookSecret ?? {});
    for (const [apiKey, secret] of Object.entries(byKey)) this.setSecret(apiKey, secret);
    for (const job of world.jobs.values()) this.watch(job);
  }

  /** Of one API key, or with '' of all that have none of their own; an empty secret: its webhooks are not sent any more. */
  setSecret(apiKey: string, secret: string): void {
    const workspace = apiKey === '' ? '' : workspaceIdOf(apiKey);
    if (secret === '') this.#secrets.delete(workspace);
    else this.#secrets.set(workspace, secret);
  }

  /** A job that may have to be told of. */
  watch(job: Job): void {
    if (urlOf(job) === undefined || isTerminal(job.state)) return;
    this.#watched.add(job);
    this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
  }

  close(): void {
    clearInterval(this.#watch);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#closed.abort();
  }

  /** Jobs end by the clock, without anybody's doing: somebody has to look. */
  #look(): void {
    advanceAll(this.#world, this.#settings.nowMs());
    for (const job of this.#watched) {
      if (!isTerminal(job.state)) continue;
      this.#watched.delete(job);
      this.#take(job);
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #take(job: Job): void {
    const url = urlOf(job);
    if (url === undefined || this.#secretOf(job) === undefined) return;
    const faults = strikeWebhook(this.rules, job.id, this.#random);
    const kinds = faults.map(({ kind }) => kind);
    const webhook = webhookOf(job);
    const log: WebhookLog = {
      ...{ jobId: job.id, eventId: webhook.eventId, state: job.state, faults: kinds, attempts: [] },
      outcome: kinds.includes('drop') ? 'dropped' : 'open',
    };
    this.logs.push(log);
    if (this.logs.length > LOGS_MAX) this.logs.shift();
    if (log.outcome === 'dropped') return;
    const lateMs = faults.reduce((sum, { ms }) => sum + ms, 0);
    this.#later(lateMs, () => this.#attempt(job, url, webhook, log));
  }

  async #attempt(job: Job, url: string, webhook: Webhook, log: WebhookLog): Promise<void> {
    const secret = this.#secretOf(job);
    if (secret === undefined) return;
    const atMs = this.#settings.nowMs();
    const headers = signedHeaders(webhook, { secret, nowMs: atMs, isWrong: log.faults.includes('wrong-signature') });
    endAnnounced(this.#seen, job.id);
    const status = await postWebhook(url, headers, webhook.body, this.#closed.signal);
    if (this.#closed.signal.aborted) return;
    const wasTaken = log.outcome === 'delivered';
    log.attempts.push({ atMs, status });
    if (status !== null && status >= 200 && status < 300) {
      log.outcome = 'delivered';
      if (!wasTaken && log.faults.includes('duplicate')) this.#later(0, () => this.#attempt(job, url, webhook, log));
    } else if (!wasTaken) {
      const seconds = RETRY_SECONDS[log.attempts.length - 1];
      if (seconds === undefined) log.outcome = 'given_up';
      else this.#later((seconds * 1000) / this.#settings.timeScale, () => this.#attempt(job, url, webhook, log));
    }
  }

  #later(delayMs: number, act: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void act();
    }, delayMs).unref();
    this.#timers.add(timer);
  }

  #secretOf({ workspace }: Job): string | undefined {
    return this.#secrets.get(workspace) ?? this.#secrets.get('');
  }
}

function urlOf({ input }: Job): string | undefined {
  return typeof input.webhook_url === 'string' ? input.webhook_url : undefined;
}
