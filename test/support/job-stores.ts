import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Job } from '../../lib/job.ts';
import { DynamoJobStore } from '../../lib/job-store/dynamo-job-store.ts';
import type { JobStore } from '../../lib/ports.ts';
import { MemoryJobStore } from '../sim/memory-job-store.ts';
import { putJobs, startTestDynamo, type TestDynamo, testClock } from './dynamo.ts';

/** A store of records under its contract. */
export interface TestJobStore {
  /** Of the store; new for each test. */
  readonly clock: ReturnType<typeof testClock>;
  readonly store: JobStore;
  /** Writes records as they are, past the conditions. */
  fill(jobs: readonly Job[]): Promise<void>;
  /** One without any records. */
  empty(): Promise<Pick<TestJobStore, 'store' | 'fill'>>;
  /** How many active ids of a kilobyte each one page does not hold. */
  readonly overPage: number;
}

/** DynamoDB itself, for what only it can do. */
export interface DynamoTestJobStore extends TestJobStore {
  readonly dynamo: TestDynamo;
  readonly table: string;
}

/** Every adapter there is: the contract is run on each. */
export const jobStores: readonly { name: string; use: () => TestJobStore }[] = [
  { name: 'in DynamoDB', use: useDynamoJobStore },
  { name: 'in memory', use: useMemoryJobStore },
];

/** The real AWS client on dynalite, or on the DynamoDB at DYNAMODB_ENDPOINT. */
export function useDynamoJobStore(): DynamoTestJobStore {
  let dynamo: TestDynamo;
  let table: string;
  let clock: ReturnType<typeof testClock>;
  let store: JobStore;
  beforeAll(async () => {
    dynamo = await startTestDynamo();
    table = await dynamo.createTable();
  });
  afterAll(() => dynamo.close());
  beforeEach(() => {
    clock = testClock();
    store = new DynamoJobStore(dynamo.client, table, clock);
  });
  return {
    overPage: 1_400,
    get dynamo() {
      return dynamo;
    },
    get table() {
      return table;
    },
    get clock() {
      return clock;
    },
    get store() {
      return store;
    },
    fill: (jobs) => putJobs(dynamo.client, table, jobs),
    async empty() {
      const name = await dynamo.createTable();
      const fill = (jobs: readonly Job[]) => putJobs(dynamo.client, name, jobs);
      return { store: new DynamoJobStore(dynamo.client, name, clock), fill };
    },
  };
}

function useMemoryJobStore(): TestJobStore {
  let clock: ReturnType<typeof testClock>;
  let store: JobStore;
  const fillInto = (target: JobStore) => async (jobs: readonly Job[]) => {
    for (const job of jobs) await target.create(job);
  };
  const make = () => new MemoryJobStore(clock.nowMs, 100);
  beforeEach(() => {
    clock = testClock();
    store = make();
  });
  return {
    overPage: 250,
    get clock() {
      return clock;
    },
    get store() {
      return store;
    },
    fill: (jobs) => fillInto(store)(jobs),
    async empty() {
      const other = make();
      return { store: other, fill: fillInto(other) };
    },
  };
}
