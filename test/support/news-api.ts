import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Announcer } from '../../lib/announce.ts';
import { eventsSetId } from '../../lib/due-set/keys.ts';
import type { ApiPorts } from '../../lib/http/app.ts';
import { deliveryIdFor, eventIdFor, jobIdFor } from '../../lib/identify.ts';
import type { Job } from '../../lib/job.ts';
import type { News } from '../../lib/news.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import { ensureJobEndpoint } from '../../lib/webhooks/job-endpoint.ts';
import { RememberedEndpoints } from '../../lib/webhooks/remembered-endpoints.ts';
import { AccountApi } from './account-api.ts';
import { testDelivery } from './deliveries.ts';
import { testNowMs } from './dynamo.ts';

export interface Sent {
  owner?: string;
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  ports?: Partial<ApiPorts>;
  /** Of the function; without end when left out. */
  remainingMs?: () => number;
}

/**
 * The API with its events over a real Redis and a real record: somebody listens to everything, URLs with `refused` in them
 * may not be called.
 */
export class NewsApi extends AccountApi {
  secrets = 0;
  /** URLs that were looked up. */
  readonly checked: string[] = [];

  override async fresh(): Promise<void> {
    await super.fresh();
    this.checked.length = 0;
    const dueSet = this.dueSet(eventsSetId);
    const eventQueue = { dueSet, waker: { wake: async () => void this.woken.push(eventsSetId) } };
    const announcer = new Announcer(eventQueue, this.ports.log, { sleep: async () => {} });
    const news: News = { address: (job) => job, announce: (job) => announcer.announce(job) };
    const checkWebhookUrl = async (url: string) => {
      this.checked.push(url);
      return url.includes('refused') ? 'The URL must lead to a public address.' : null;
    };
    const newSecret = () => `whsec_${Buffer.alloc(32, String(this.secrets++)).toString('base64')}`;
    const { endpoints } = this.ports;
    const ensure = (owner: string, url: string) =>
      ensureJobEndpoint({ endpoints, clock: this.clock, newSecret }, owner, url);
    const jobEndpoints = new RememberedEndpoints({ ensure, checkWebhookUrl, clock: this.clock });
    Object.assign(this.ports, {
      eventQueue,
      news,
      checkWebhookUrl,
      newSecret,
      jobEndpoints,
      newId: () => this.#newId(),
    });
  }

  #ids = 0;
  #newId(): string {
    return `id-${this.#ids++}`;
  }

  async send(method: string, path: string, sent: Sent = {}) {
    const { owner = 'acme', key, body, headers = {}, ports = {}, remainingMs } = sent;
    // No two requests come in the same millisecond.
    this.clock.ms += 1;
    const init = {
      method,
      headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const reply = await this.app(ports).request(path, init, {
      event: { requestContext: { authorizer: { lambda: { owner } } } },
      ...(remainingMs === undefined ? {} : { lambdaContext: { getRemainingTimeInMillis: remainingMs } }),
    } as never);
    const text = await reply.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field, their shape is what is tested
    const answer: any = text === '' ? null : JSON.parse(text);
    return { status: reply.status, headers: reply.headers, body: answer };
  }

  /** The ids in a set, with their scores. */
  async scores(set: 'due' | 'waiting', account: string): Promise<Map<string, number>> {
    const reply = (await this.upstash.direct(
      'ZRANGE',
      `pk:{test}:${set}:${account}`,
      '0',
      '-1',
      'WITHSCORES',
    )) as unknown[];
    return new Map(reply.flatMap((id, place) => (place % 2 === 0 ? [[String(id), Number(reply[place + 1])]] : [])));
  }

  async stored(id: string): Promise<Job> {
    return (await this.ports.store.get(id)) as Job;
  }

  /** One of acme's jobs that ended, with its event delivered, at these endpoints. */
  async toldJob(key: string, endpoints: readonly string[], given: Partial<Delivery> = {}): Promise<Job> {
    const id = jobIdFor('acme', key);
    const event = eventIdFor(id, 'job.completed');
    const deliveries = endpoints.map((endpointId) => arrived(id, endpointId, given));
    for (const delivery of deliveries) await this.ports.deliveries.create(delivery);
    return this.job(key, {
      state: 'completed',
      finishedAtMs: testNowMs,
      events: [
        { id: eventIdFor(id, 'job.processing'), type: 'job.processing', atMs: testNowMs - 9_000 },
        { id: event, type: 'job.completed', atMs: testNowMs, deliveries: deliveries.map((delivery) => delivery.id) },
      ],
    });
  }
}

function arrived(jobId: string, endpointId: string, given: Partial<Delivery>): Delivery {
  const eventId = eventIdFor(jobId, 'job.completed');
  return testDelivery({
    ...{ id: deliveryIdFor(eventId, endpointId), subjectId: jobId, eventId, endpointId },
    ...{ body: '{"type":"job.completed"}', state: 'delivered', attempts: 1, nextAtMs: 0 },
    log: [{ atMs: testNowMs, status: 204, tookMs: 12, fault: null, snippet: '' }],
    ...given,
  });
}

export function useNewsApi(): NewsApi {
  const api = new NewsApi();
  beforeAll(() => api.start());
  afterAll(() => api.close());
  beforeEach(() => api.fresh());
  return api;
}
