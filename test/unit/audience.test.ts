import { beforeEach, describe, expect, test } from 'vitest';
import { JobStoreError } from '../../lib/errors.ts';
import { enter, type Job, type JobState } from '../../lib/job.ts';
import { EndpointAudience } from '../../lib/webhooks/audience.ts';
import type { Endpoint } from '../../lib/webhooks/endpoint.ts';
import { testEndpoint } from '../support/deliveries.ts';
import { jobWith, startMs } from '../support/jobs.ts';

let nowMs: number;
let lists: string[];
let registered: Endpoint[] | Error;
const logged: string[] = [];
const note = (event: string) => void logged.push(event);

function audience(bus = false): EndpointAudience {
  const endpoints = {
    list: async (owner: string) => {
      lists.push(owner);
      if (registered instanceof Error) throw registered;
      return registered.filter((endpoint) => endpoint.owner === owner);
    },
  };
  const log = { info: note, warn: note, error: note };
  return new EndpointAudience({ endpoints, clock: { monotonicMs: () => nowMs }, log }, { bus });
}

beforeEach(() => {
  nowMs = 5;
  lists = [];
  registered = [];
  logged.length = 0;
});

const entered = (state: JobState, given: Partial<Job> = {}) => enter(jobWith(given), state, startMs);
const pendings = (job: Job) => job.events.map(({ pending }) => pending === true);
const url = 'https://own.example/';

describe('an event', () => {
  test('that is not new costs nothing, and is answered at once', () => {
    const told = { ...entered('completed'), events: [] };
    expect(audience().address(told)).toBe(told);
    expect(lists).toEqual([]);
  });

  test.each<[string, Partial<Job>, JobState, boolean, boolean]>([
    ['nobody', {}, 'completed', false, false],
    ['the job’s own endpoint', { webhookUrl: url }, 'completed', false, true],
    ['the job’s own endpoint, unless it is an unusual one', { webhookUrl: url }, 'processing', false, false],
    [
      'the job’s own endpoint, if the job chose it',
      { webhookUrl: url, webhookEvents: ['job.processing'] },
      'processing',
      false,
      true,
    ],
    [
      'the job’s own endpoint, unless the job left it out',
      { webhookUrl: url, webhookEvents: ['job.failed'] },
      'completed',
      false,
      false,
    ],
    ['the bus', {}, 'processing', true, true],
    ['the job’s batch, when it has ended', { batch: 'b' }, 'failed', false, true],
    ['the job’s batch, but only of an end', { batch: 'b' }, 'overdue', false, false],
  ])('is heard by %s', async (_, given, state, bus, heard) => {
    const job = entered(state, given);
    const addressed = await audience(bus).address(job);
    expect(pendings(addressed)).toEqual([heard]);
    expect(addressed).toEqual(heard ? job : { ...job, events: [{ ...job.events[0], pending: undefined }] });
    expect(lists.length).toBe(heard ? 0 : 1);
  });

  test('is heard by registered endpoints of its owner that want it', async () => {
    registered = [
      testEndpoint({ owner: 'acme', url: 'https://a/', events: ['job.failed'] }),
      testEndpoint({ owner: 'acme', url: 'https://b/', events: ['job.completed'], state: 'disabled' }),
      testEndpoint({ owner: 'globex', url: 'https://c/' }),
    ];
    const to = audience();
    expect(pendings(await to.address(entered('failed')))).toEqual([true]);
    expect(pendings(await to.address(entered('completed')))).toEqual([false]);
    expect(pendings(await to.address(enter(entered('overdue'), 'failed', startMs)))).toEqual([false, true]);
    expect(pendings(await to.address(entered('completed', { owner: 'globex' })))).toEqual([true]);
  });
});

describe('what is known of an owner’s endpoints', () => {
  test('is read once a minute, also that there are none, and by many at once only once', async () => {
    const to = audience();
    const both = await Promise.all([to.address(entered('failed')), to.address(entered('lost'))]);
    expect(both.map(pendings)).toEqual([[false], [false]]);
    registered = [testEndpoint({ owner: 'acme', url: 'https://a/' })];
    nowMs += 59_999;
    expect(to.address(entered('failed'))).not.toBeInstanceOf(Promise);
    expect(lists).toEqual(['acme']);
    nowMs += 1;
    expect(pendings(await to.address(entered('failed')))).toEqual([true]);
    expect(lists).toEqual(['acme', 'acme']);
  });

  test('is in doubt taken for somebody, and asked again soon', async () => {
    registered = new JobStoreError('throttled');
    const to = audience();
    expect(pendings(await to.address(entered('failed')))).toEqual([true]);
    expect(pendings(await to.address(entered('failed')))).toEqual([true]);
    expect([lists.length, logged]).toEqual([1, ['endpoints_unread']]);
    registered = [];
    nowMs += 1_000;
    expect(pendings(await to.address(entered('failed')))).toEqual([false]);
  });

  test('is kept of ten thousand owners', async () => {
    const to = audience();
    const job = entered('failed');
    for (let n = 0; n <= 10_000; n++) await to.address({ ...job, owner: `owner-${n}` });
    await to.address({ ...job, owner: 'owner-10000' });
    expect(lists.length).toBe(10_001);
    await to.address({ ...job, owner: 'owner-0' });
    expect(lists.length).toBe(10_002);
  });
});
