import type { EndpointStore } from '../event-ports.ts';
import { endpointIdFor } from '../identify.ts';
import type { Clock } from '../ports.ts';
import { type Endpoint, newEndpoint } from './endpoint.ts';

export interface JobEndpointPorts {
  endpoints: Pick<EndpointStore, 'get' | 'create'>;
  clock: Pick<Clock, 'nowMs'>;
  /** `whsec_` and base64 of 32 random bytes. */
  newSecret: () => string;
}

/** The endpoint that an owner's jobs name by this URL, made if there is none yet. Rejects with a JobStoreError. */
export async function ensureJobEndpoint(
  { endpoints, clock, newSecret }: JobEndpointPorts,
  owner: string,
  url: string,
): Promise<Endpoint> {
  const id = endpointIdFor(owner, url);
  const found = await endpoints.get(id);
  if (found !== null) return found;
  const given = { id, owner, kind: 'job', url, events: null, description: '' } as const;
  const endpoint = newEndpoint(given, newSecret(), clock.nowMs());
  const made = await endpoints.create(endpoint);
  return made.kind === 'exists' ? made.endpoint : endpoint;
}
