import { DeleteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EndpointStore } from '../event-ports.ts';
import type { Log } from '../log.ts';
import type { Clock, ListPosition } from '../ports.ts';
import { type Endpoint, jobEndpointsListed } from '../webhooks/endpoint.ts';
import { attempt } from './attempt.ts';
import { Documents } from './documents.ts';
import { endpointMapping, endpointsOf } from './endpoint-item.ts';
import { idOf, queryByOwner } from './query-index.ts';

export class DynamoEndpoints implements EndpointStore {
  readonly #documents: Documents<Endpoint>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'nowMs' | 'sleep'>, log: Log) {
    this.#documents = new Documents(client, table, clock, log, endpointMapping);
  }

  async create(endpoint: Endpoint): Promise<{ kind: 'created' } | { kind: 'exists'; endpoint: Endpoint }> {
    const item = await this.#documents.create(endpoint);
    if (item === null) return { kind: 'created' };
    const stored = this.#documents.read(item, endpoint.id);
    // A repeat by the SDK after a lost reply meets its own write: nobody else has its secret.
    const own = stored.secrets[0]?.secret === endpoint.secrets[0]?.secret && stored.revision === endpoint.revision;
    return own ? { kind: 'created' } : { kind: 'exists', endpoint: stored };
  }

  get(id: string): Promise<Endpoint | null> {
    return this.#documents.get(id);
  }

  async update(endpoint: Endpoint): Promise<{ kind: 'updated'; endpoint: Endpoint } | { kind: 'stale' }> {
    const updated = await this.#documents.update(endpoint);
    return updated === null ? { kind: 'stale' } : { kind: 'updated', endpoint: updated };
  }

  async remove(id: string): Promise<void> {
    const { client } = this.#documents;
    await attempt(() => client.send(new DeleteItemCommand(this.#documents.at(id))));
  }

  async list(owner: string, kind?: Endpoint['kind']): Promise<Endpoint[]> {
    const kinds: Endpoint['kind'][] = kind === undefined ? ['registered', 'job'] : [kind];
    const max = (each: Endpoint['kind']) => (each === 'job' ? jobEndpointsListed : Number.POSITIVE_INFINITY);
    const ids = await Promise.all(kinds.map((each) => this.#ids(endpointsOf(owner, each), max(each))));
    const endpoints = await this.#documents.getMany(ids.flat());
    return endpoints.sort((a, b) => b.createdAtMs - a.createdAtMs);
  }

  async #ids(partition: string, max: number): Promise<string[]> {
    const { client, table } = this.#documents;
    const ids: string[] = [];
    let after: ListPosition | undefined;
    do {
      const page = await queryByOwner(client, table, partition, {
        after,
        ...(Number.isFinite(max) ? { limit: max - ids.length } : {}),
      });
      ids.push(...page.items.map(idOf));
      after = page.next ?? undefined;
    } while (after !== undefined && ids.length < max);
    return ids;
  }
}
