import { expect, it } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { type AttemptPorts, attempt } from '../../lib/webhooks/attempt.ts';
import type { Delivery } from '../../lib/webhooks/delivery.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';
import { answered, testDelivery, testEndpoint } from '../support/deliveries.ts';
import { testNowMs } from '../support/dynamo.ts';

/** A stored endpoint, and a book that still knows it as it was before. */
function portsOf(stored: Endpoint, known: Endpoint) {
  const kept = { endpoint: stored, forgotten: 0, urls: [] as string[] };
  const pending = testDelivery({ job: 'waiting', nextAtMs: testNowMs + 60_000 });
  const written = new Map<string, Delivery>();
  const ports: AttemptPorts = {
    endpoints: {
      get: async () => kept.endpoint,
      update: async (endpoint) => {
        kept.endpoint = { ...endpoint, revision: endpoint.revision + 1 };
        return { kind: 'updated', endpoint: kept.endpoint };
      },
    },
    deliveries: {
      getMany: async () => [],
      list: async () => ({ deliveries: [pending], next: null }),
      update: async (delivery) => {
        written.set(delivery.id, delivery);
        return { kind: 'updated', delivery };
      },
    },
    book: { find: async () => known, forget: () => void kept.forgotten++ },
    send: async ({ url }) => {
      kept.urls.push(url);
      return answered(410);
    },
    random: () => 0,
    nowMs: () => testNowMs,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  };
  return { ports, kept, written, pending };
}

it('a URL that is gone disables its endpoint, but not one that was given another URL meanwhile: that one is tried (T98)', async () => {
  const old = testEndpoint({ url: 'https://old.example/hook' });
  const delivery = testDelivery({ endpointId: old.id });
  const gone = portsOf(old, old);
  expect(await attempt(gone.ports, delivery)).toMatchObject({ settle: { kind: 'remove' }, outcome: 'canceled' });
  expect(gone.kept.endpoint).toMatchObject({ state: 'disabled', disabledBy: 'gone' });
  expect(gone.written.get(gone.pending.id)?.state).toBe('canceled');

  const moved = portsOf({ ...old, url: 'https://new.example/hook', revision: 2 }, old);
  expect(await attempt(moved.ports, delivery)).toMatchObject({
    settle: { kind: 'due', atMs: testNowMs + 5_000 },
    outcome: 'failed',
  });
  expect(moved.kept).toMatchObject({ endpoint: { state: 'enabled', revision: 2 }, forgotten: 1, urls: [old.url] });
  expect(moved.written.get(delivery.id)).toMatchObject({ state: 'pending', attempts: 1, log: [{ status: 410 }] });
  expect(moved.written.has(moved.pending.id)).toBe(false);
});

it('to an endpoint whose record can’t be read is tried seldom: only somebody’s hand helps', async () => {
  const { ports } = portsOf(testEndpoint({ url: 'https://a.example/' }), testEndpoint({ url: 'https://a.example/' }));
  const find = (broken: boolean) => () => Promise.reject(new JobStoreError('no url', broken));
  const settleOf = async (broken: boolean) =>
    (await attempt({ ...ports, book: { ...ports.book, find: find(broken) } }, testDelivery())).settle;
  expect(await settleOf(false)).toEqual({ kind: 'due', atMs: testNowMs + 15_000 });
  expect(await settleOf(true)).toEqual({ kind: 'due', atMs: testNowMs + 600_000 });
});
