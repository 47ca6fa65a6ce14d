import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf } from '../bench/percentiles.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { type EventStage, startEventStage } from './event-stage.ts';
import { judged, type LoadFigures } from './figures.ts';
import type { AskSeen, EventsSeen, ReadsSeen, WatchReads } from './messages.ts';
import type { LoadOptions } from './options.ts';

export interface LoadRequest {
  options: LoadOptions;
  say: (line: string) => void;
  /** Ends the run; it then rejects, with everything stopped. */
  signal: AbortSignal;
}

/** A processing job is to be read every 15 s at Sume, and every 5 s here. */
const timeScale = 3;
const pollMs = 5_000;
/** No render ends by itself. */
const renderSeconds = 36_000;
const hangMs = 30_000;
/** Requests in which a phase's jobs are sent, over two rounds of polling: so they are read, and end, evenly. */
const requests = 20;
const sentOverMs = 2 * pollMs;
/** After the last render's end: until it is read, and told. */
const tailMs = pollMs + 3_000;
const warmUpJobs = 20;
const sentWithinMs = 60_000;
const arrivedWithinMs = 30_000;
const minuteMs = 60_000;

/** Runs the whole; everything that was started is ended when it resolves or rejects. */
export async function runLoad(request: LoadRequest): Promise<LoadFigures> {
  request.say('Building the functions and starting everything …');
  const stage = await startEventStage({
    provider: { seed: 'events-load', timeScale, limits: false, renderSeconds, answerDelayMs: { mean: 50, spread: 25 } },
    // What is learnt from the ends of the first time would have the second one read less.
    env: { ADAPTIVE_FIRST_READ: 'off', API_REQUESTS_PER_MINUTE: 'off' },
    ...{ atMost: 4, pollingFirst: true },
  });
  try {
    request.signal.throwIfAborted();
    const receivers = await stage.start('receivers', { HANG_MS: String(hangMs) });
    return await new Load(request, stage, receivers).work();
  } finally {
    await stage.close(false);
  }
}

type Receiver = 'good' | 'hang' | 'warm-up' | null;
/** By their numbers, `to` not among them. */
type Jobs = { from: number; to: number };

class Load {
  readonly #options: LoadOptions;
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #stage: EventStage;
  readonly #receivers: NodeProcess;
  readonly #startedAtMs = performance.now();
  #steady: string[] = [];

  constructor({ options, say, signal }: LoadRequest, stage: EventStage, receivers: NodeProcess) {
    this.#options = options;
    this.#say = say;
    this.#signal = signal;
    this.#stage = stage;
    this.#receivers = receivers;
  }

  async work(): Promise<LoadFigures> {
    const { good, hanging, steady } = this.#options;
    const { drain, deliver } = this.#stage.functions;
    drain.every(minuteMs);
    deliver.every(minuteMs);
    const runOn = { from: 0, to: steady };
    await this.#submitAll('steady', runOn, () => null);
    this.#steady = await this.#atProvider('steady', runOn);
    this.#say(`${steady} jobs run on and on.`);
    await this.#warmUp();
    // Evenly between the others.
    const hangingBefore = (job: number) => Math.floor((job * hanging) / (good + hanging));
    const isHanging = (job: number) => hangingBefore(job + 1) > hangingBefore(job);
    const receiverOf = (job: number) => (isHanging(job) ? 'hang' : 'good');
    const half = Math.ceil((good + hanging) / 2);
    const halves = { first: { from: 0, to: half }, second: { from: half, to: good + hanging } };
    // In this order, so that whatever grows with time counts as much for both.
    const before = await this.#phase('Without deliveries', 'before', halves.first, () => null);
    const first = await this.#phase('With deliveries', 'told', halves.first, receiverOf);
    const second = await this.#phase('With deliveries', 'told', halves.second, receiverOf);
    const seen = await this.#arrived();
    await this.#disableHanging();
    const after = await this.#phase('Without deliveries', 'after', halves.second, () => null);
    return judged({
      good: { sent: good, arrived: seen.delaysMs.length, repeats: seen.repeats, delayMs: spreadOf(seen.delaysMs) },
      hanging: { sent: hanging, attempts: seen.hanging },
      steady: { jobs: steady, without: spreadOf([...before, ...after]), with: spreadOf([...first, ...second]) },
      machineLoad: Math.round((loadavg()[0] ?? 0) * 10) / 10,
      seconds: Math.round((performance.now() - this.#startedAtMs) / 1000),
    });
  }

  /** Some news, so that whoever sends any has loaded what that takes: a process does it once, and nobody waits for it later. */
  async #warmUp(): Promise<void> {
    const jobs = { from: 0, to: warmUpJobs };
    await this.#submit('warm-up', jobs, () => 'warm-up');
    await Promise.all((await this.#atProvider('warm-up', jobs)).map((id) => this.#endRender(id, 0)));
    await this.#sleep(tailMs);
  }

  /** The jobs, from their submit to what becomes of their ends. Resolves with the lateness of the steady ones' reads, ms. */
  async #phase(title: string, name: string, jobs: Jobs, receiverOf: (job: number) => Receiver): Promise<number[]> {
    const { good, hanging } = this.#options;
    const count = jobs.to - jobs.from;
    const seconds = (this.#options.seconds * count) / (good + hanging);
    this.#say(`${title}: ${count} jobs are sent …`);
    await this.#submitAll(name, jobs, receiverOf);
    const ids = await this.#atProvider(name, jobs);
    await this.#stage.provider.ask({ kind: 'watch', ids: this.#steady } satisfies WatchReads);
    this.#say(`${title}: their renders end, over ${Math.round(seconds)} s …`);
    await Promise.all(ids.map((id, place) => this.#endRender(id, (place / count) * seconds * 1000)));
    await this.#sleep(tailMs);
    const { latenessMs } = await this.#stage.provider.ask<ReadsSeen>({ kind: 'seen' } satisfies AskSeen);
    const { p50, p99, count: reads } = spreadOf(latenessMs);
    this.#say(`${title}: ${reads} reads of the steady jobs, p50 ${p50} ms late, p99 ${p99} ms.`);
    return latenessMs;
  }

  async #submitAll(name: string, { from, to }: Jobs, receiverOf: (job: number) => Receiver): Promise<void> {
    const placeOf = (request: number) => from + Math.floor((request * (to - from)) / requests);
    const submits = Array.from({ length: requests }, async (_, request) => {
      await this.#sleep((request / requests) * sentOverMs);
      const part = { from: placeOf(request), to: placeOf(request + 1) };
      if (part.to > part.from) await this.#submit(name, part, receiverOf);
    });
    await Promise.all(submits);
  }

  async #submit(name: string, { from, to }: Jobs, receiverOf: (job: number) => Receiver): Promise<void> {
    const items = Array.from({ length: to - from }, (_, index) => {
      const job = from + index;
      const receiver = receiverOf(job);
      return {
        idempotency_key: `${name}-${job}`,
        input: { model: 'seedance-2-mini', prompt: `${name} ${job}`, duration: 5, resolution: '720p' },
        ...(receiver === null ? {} : { webhook_url: `${this.#receivers.url}/${receiver}` }),
      };
    });
    const answer = await this.#call<{ accepted?: number }>('POST', '/v1/jobs/batch', { items });
    if (answer.accepted !== items.length) throw new Error(`Jobs were refused: ${JSON.stringify(answer).slice(0, 500)}`);
  }

  /** The provider's ids of these jobs, in the order in which they were submitted, once it has all of them. */
  async #atProvider(name: string, { from, to }: Jobs): Promise<string[]> {
    const placeOf = (input: { prompt: string }) => Number(input.prompt.slice(name.length + 1));
    for (const endMs = performance.now() + sentWithinMs; ; await this.#sleep(1_000)) {
      const { jobs } = await this.#stage.control.get<{ jobs: { id: string; input: { prompt: string } }[] }>('jobs');
      const own = jobs
        .map(({ id, input }) => ({ id, named: input.prompt.startsWith(`${name} `), job: placeOf(input) }))
        .filter(({ named, job }) => named && job >= from && job < to);
      if (own.length === to - from) return own.sort((one, other) => one.job - other.job).map(({ id }) => id);
      if (performance.now() > endMs) throw new Error(`Only ${own.length} of ${to - from} jobs came to the provider.`);
    }
  }

  async #endRender(id: string, inMs: number): Promise<void> {
    await this.#sleep(inMs);
    await this.#stage.control.post(`jobs/${id}`, { state: 'completed' });
  }

  /** Once every event for the good receiver is there, or it has had its time. */
  async #arrived(): Promise<EventsSeen> {
    for (const endMs = performance.now() + arrivedWithinMs; ; await this.#sleep(500)) {
      const seen = await this.#receivers.ask<EventsSeen>({ kind: 'seen' } satisfies AskSeen);
      if (seen.delaysMs.length >= this.#options.good || performance.now() > endMs) return seen;
    }
  }

  /** So that what was not delivered there is canceled, and the last phase is without deliveries. */
  async #disableHanging(): Promise<void> {
    const { endpoints } = await this.#call<{ endpoints: { id: string; url: string }[] }>('GET', '/v1/endpoints');
    for (const { id } of endpoints.filter(({ url }) => url.endsWith('/hang')))
      await this.#call('PATCH', `/v1/endpoints/${id}`, { state: 'disabled' });
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.#stage.apiUrl}${path}`, { method, headers, signal: this.#signal, ...sent });
    return (await response.json()) as T;
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#signal });
  }
}
