import { describe, expect, it } from 'vitest';
import { type Endpoint, endpointsMax } from '../../lib/webhooks/endpoint.ts';
import { type RegisterPorts, registerEndpoint } from '../../lib/webhooks/register.ts';

/** As many at one moment: each looks before any is written, and again once all are. */
function atOneMoment(count: number): { ports: RegisterPorts; stored: Map<string, Endpoint> } {
  const stored = new Map<string, Endpoint>();
  let written = 0;
  let allWritten = () => {};
  const whenWritten = new Promise<void>((resolve) => {
    allWritten = resolve;
  });
  const endpoints: RegisterPorts['endpoints'] = {
    create: async (endpoint) => {
      stored.set(endpoint.id, endpoint);
      written += 1;
      if (written === count) allWritten();
      await whenWritten;
      return { kind: 'created' };
    },
    list: async () => [...stored.values()],
    remove: async (id) => void stored.delete(id),
    get: async (id) => stored.get(id) ?? null,
    update: async () => ({ kind: 'stale' }),
  };
  let ids = 0;
  const newId = () => String(ids++);
  const ports = { endpoints, checkWebhookUrl: async () => null, newSecret: () => 'whsec_AAAA', newId };
  return { ports: { ...ports, clock: { nowMs: () => 1_800_000_000_000 } }, stored };
}

describe('registering', () => {
  it('many endpoints at one moment leaves an owner with as many as it may have', async () => {
    const count = endpointsMax * 3;
    const { ports, stored } = atOneMoment(count);
    const url = 'https://hooks.example.com/a';
    const results = await Promise.all(Array.from({ length: count }, () => registerEndpoint(ports, 'acme', { url })));
    const done = results.flatMap((result) => (result.kind === 'done' ? [result.endpoint.id] : []));
    expect(done).toHaveLength(endpointsMax);
    expect([...stored.keys()].sort()).toEqual(done.sort());
    expect(results.filter(({ kind }) => kind === 'too_many')).toHaveLength(count - endpointsMax);
  });
});
