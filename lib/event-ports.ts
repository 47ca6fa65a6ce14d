import type { Batch } from './batch.ts';
import type { Job, JobState } from './job.ts';
import type { DueSet, ListPosition, Waker } from './ports.ts';
import type { Delivery } from './webhooks/delivery.ts';
import type { Endpoint } from './webhooks/endpoint.ts';

/* What the use cases of events ask of the outside, beside ports.ts. */

/** Where jobs with pending events, deliveries and batches become due, and who is told of it. */
export interface EventQueue {
  dueSet: Pick<DueSet, 'schedule' | 'absent'>;
  /** Starts the function that delivers. */
  waker: Pick<Waker, 'wake'>;
}

/** Whether somebody is to hear of an event. */
export interface Audience {
  /** The job, its new events pending only where somebody listens. Never rejects: in doubt, somebody does. */
  address(job: Job): Job | Promise<Job>;
}

/** Endpoints, in the same table. Every call rejects with a JobStoreError and nothing else. */
export interface EndpointStore {
  create(endpoint: Endpoint): Promise<{ kind: 'created' } | { kind: 'exists'; endpoint: Endpoint }>;
  /** Consistent read. */
  get(id: string): Promise<Endpoint | null>;
  update(endpoint: Endpoint): Promise<{ kind: 'updated'; endpoint: Endpoint } | { kind: 'stale' }>;
  remove(id: string): Promise<void>;
  /**
   * An owner's, newest first, of both kinds or one, from an index that may be slightly stale: all that were registered, and the
   * newest `jobEndpointsListed` of those that came with jobs.
   */
  list(owner: string, kind?: Endpoint['kind']): Promise<Endpoint[]>;
}

/** Deliveries, in the same table. Every call rejects with a JobStoreError and nothing else. */
export interface DeliveryStore {
  /** Does nothing when there is one with this id. */
  create(delivery: Delivery): Promise<void>;
  /** Consistent reads; what has no record is left out. */
  getMany(ids: readonly string[]): Promise<Delivery[]>;
  update(delivery: Delivery): Promise<{ kind: 'updated'; delivery: Delivery } | { kind: 'stale' }>;
  /** One page of ids of pending ones and of open batches in a shard, for the sweep. */
  pendingIds(shard: number, after?: string): Promise<{ ids: string[]; next: string | null }>;
  /** An owner's dead ones, or those pending at an endpoint, newest first, from an index that may be slightly stale. */
  list(
    of: { deadOf: string } | { pendingAt: string },
    query: { limit: number; after?: ListPosition },
  ): Promise<{ deliveries: Delivery[]; next: ListPosition | null }>;
}

/** Batches, in the same table. Every call rejects with a JobStoreError and nothing else. */
export interface BatchStore {
  /** Notes that jobs are about to be added, before they are; `completed` when it has ended: then nothing is noted. */
  touch(batch: {
    owner: string;
    name: string;
    webhookUrl?: string | undefined;
    atMs: number;
  }): Promise<'open' | 'completed'>;
  get(id: string): Promise<Batch | null>;
  update(batch: Batch): Promise<{ kind: 'updated'; batch: Batch } | { kind: 'stale' }>;
  /** All its jobs, from an index that may be slightly stale. */
  jobs(id: string): Promise<{ id: string; state: JobState }[]>;
}
