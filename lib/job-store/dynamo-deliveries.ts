import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DeliveryStore } from '../event-ports.ts';
import type { Log } from '../log.ts';
import type { Clock, ListPosition } from '../ports.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { activePartition, deadOf, deliveryMapping, pendingAt } from './delivery-item.ts';
import { Documents } from './documents.ts';
import { positionOf, queryActive, queryByOwner } from './query-index.ts';

export class DynamoDeliveries implements DeliveryStore {
  readonly #documents: Documents<Delivery>;

  constructor(client: DynamoDBClient, table: string, clock: Pick<Clock, 'nowMs' | 'sleep'>, log: Log) {
    this.#documents = new Documents(client, table, clock, log, deliveryMapping);
  }

  async create(delivery: Delivery): Promise<void> {
    await this.#documents.create(delivery);
  }

  getMany(ids: readonly string[]): Promise<Delivery[]> {
    return this.#documents.getMany(ids);
  }

  async update(delivery: Delivery): Promise<{ kind: 'updated'; delivery: Delivery } | { kind: 'stale' }> {
    const updated = await this.#documents.update(delivery);
    return updated === null ? { kind: 'stale' } : { kind: 'updated', delivery: updated };
  }

  pendingIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }> {
    const { client, table } = this.#documents;
    return queryActive(client, table, activePartition(shard), after);
  }

  async list(
    of: { deadOf: string } | { pendingAt: string },
    query: { limit: number; after?: ListPosition },
  ): Promise<{ deliveries: Delivery[]; next: ListPosition | null }> {
    const { client, table } = this.#documents;
    const partition = 'deadOf' in of ? deadOf(of.deadOf) : pendingAt(of.pendingAt);
    const { items, next } = await queryByOwner(client, table, partition, query);
    const found = await this.getMany(items.map((item) => positionOf(item).id));
    // The index lags: what has moved on is not shown under what it was.
    const state = 'deadOf' in of ? 'dead' : 'pending';
    return { deliveries: found.filter((delivery) => delivery.state === state), next };
  }
}
