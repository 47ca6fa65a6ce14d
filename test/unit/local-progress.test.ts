import { describe, expect, it } from 'vitest';
import { incompleteLine, summaryLines, tryLines } from '../../infra/local/console/closing-lines.ts';
import { progressLine, progressLines } from '../../infra/local/console/progress.ts';
import { openScreen } from '../../infra/local/console/screen.ts';
import { demoClip, submitDemo } from '../../infra/local/demo/clips.ts';
import { Follower } from '../../infra/local/demo/follow.ts';
import { type Counters, commandsIn, measuredBetween } from '../../infra/local/demo/measure.ts';
import { tokenList } from '../../infra/local/stack/local-keys.ts';
import { jobIdFor } from '../../lib/identify.ts';

const tally = { total: 30, completed: 14, failed: 1, counts: { completed: 14, failed: 1, processing: 4, queued: 11 } };

describe('progress', () => {
  it('is a bar and the counts by state, in the order a job goes through them', () => {
    expect(progressLines(tally, 12_345, 80)).toEqual([
      '  ████████████████████░░░░░░░░░░░░░░░░░░░░ 15/30 done  12 s',
      '  queued 11 · processing 4 · completed 14 · failed 1',
    ]);
    expect(progressLine(tally, 12_345)).toBe('  12 s  15/30 done: queued 11 · processing 4 · completed 14 · failed 1');
  });

  it.each([1, 10, 24, 40, 200])('never fills a terminal of %i columns, so that no line wraps', (columns) => {
    for (const line of progressLines(tally, 1e6, columns)) expect(line.length).toBeLessThan(columns);
  });

  it('has nothing to divide by when there are no jobs', () => {
    expect(progressLines({ total: 0, completed: 0, failed: 0, counts: {} }, 0, 80)[1]).toBe('  no jobs');
  });
});

describe('the screen', () => {
  it('redraws the block in place in a terminal, with new lines above it', () => {
    let text = '';
    const screen = openScreen({ isTTY: true, columns: 50, write: (more: string) => (text += more) }, 'xterm');
    screen.block(['a', 'b']);
    screen.line('news');
    expect(text).toBe('a\nb\n\x1b[2A\r\x1b[Jnews\na\nb\n');
    screen.settle();
    screen.line('after');
    expect(text.endsWith('a\nb\nafter\n')).toBe(true);
  });

  it('writes plain lines and no escape codes anywhere else', () => {
    let text = '';
    const screen = openScreen({ write: (more: string) => (text += more) }, 'xterm');
    screen.block(['a']);
    screen.line('news');
    expect(text).toBe('news\n');
    expect(openScreen({ isTTY: true, write: () => {} }, 'dumb').live).toBe(false);
  });
});

describe('following jobs', () => {
  const page = (jobs: [string, string][], next: string | null = null) => ({
    jobs: jobs.map(([id, state]) => ({ id, state })),
    next_cursor: next,
  });

  it('reads only as many pages as it needs to have seen every job that still runs', async () => {
    const asked: (string | undefined)[] = [];
    const follower = new Follower({
      get: async () => undefined,
      list: async ({ cursor }) => {
        asked.push(cursor);
        if (cursor === undefined) return page([['c', 'queued']], 'two');
        return cursor === 'two' ? page([['b', 'completed']], 'three') : page([['a', 'completed']]);
      },
    });
    for (const id of ['a', 'b', 'c']) follower.add({ id, state: 'waiting' });
    await follower.refresh();
    expect(asked).toEqual([undefined, 'two', 'three']);
    expect(follower.tally()).toEqual({ total: 3, completed: 2, failed: 0, counts: { completed: 2, queued: 1 } });
    await follower.refresh();
    expect(asked.slice(3)).toEqual([undefined]);
  });

  it('takes along what an earlier run left, but not what is overdue for hours', async () => {
    const follower = new Follower({
      get: async () => undefined,
      list: async ({ state }) =>
        page(state === 'queued' ? [['q', 'queued']] : state === 'overdue' ? [['o', 'overdue']] : []),
    });
    expect(await follower.addUnfinished()).toBe(1);
    expect(follower.unfinished()).toEqual(['q']);
  });

  it('calls a job lost only when the API does not know it', async () => {
    const follower = new Follower({
      list: async () => page([]),
      get: async (id) => (id === 'gone' ? undefined : { id, state: 'processing' }),
    });
    for (const id of ['gone', 'slow']) follower.add({ id, state: 'queued' });
    expect(await follower.findLost()).toEqual(['gone']);
    expect(follower.tally().counts).toEqual({ queued: 1, processing: 1 });
    expect(incompleteLine(follower.incomplete())).toBe('Not completed: gone (queued), slow (processing).');
  });
});

describe('the demo', () => {
  it('sends each clip once, under a key of its own, a few at a time', async () => {
    const keys: string[] = [];
    let [underWay, most] = [0, 0];
    const client = {
      submit: async (key: string) => {
        keys.push(key);
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        return { id: key, state: 'waiting' };
      },
    };
    const accepted: string[] = [];
    await submitDemo({ client, jobs: 25, runId: 'r', onAccepted: ({ id }) => accepted.push(id) });
    expect(new Set(keys).size).toBe(25);
    expect(accepted).toHaveLength(25);
    expect(most).toBe(4);
    const durations = Array.from({ length: 30 }, (_, number) => demoClip(number).input.duration);
    expect([Math.min(...durations), Math.max(...durations)]).toEqual([4, 10]);
  });

  it('stops sending at the first clip that is refused', async () => {
    let sent = 0;
    const client = {
      submit: async () => {
        sent += 1;
        throw new Error('refused');
      },
    };
    await expect(submitDemo({ client, jobs: 100, runId: 'r', onAccepted: () => {} })).rejects.toThrow('refused');
    expect(sent).toBeLessThanOrEqual(4);
  });
});

describe('the figures', () => {
  const counters = (given: Partial<Counters> = {}): Counters => ({
    sume: {
      billedClips: 5,
      providerReads: 10,
      earlyReads: 0,
      duplicateReads: 0,
      latenessMs: { p50: 1.234, p99: 5.678, max: 9 },
    },
    redisCommands: 100,
    redisRoundTrips: 20,
    dynamoWrites: 7,
    restarts: { sume: 0, redis: 0, dynamo: 0 },
    ...given,
  });

  it('count every Redis command, those inside scripts too, but not the calls that ask', () => {
    const stats =
      'cmdstat_evalsha:calls=3,usec=9\r\ncmdstat_zadd:calls=4,usec=1\r\ncmdstat_info:calls=50,usec=1\r\ncmdstat_config|get:calls=1,usec=1\r\n';
    expect(commandsIn(`# Commandstats\r\n${stats}`)).toBe(8);
  });

  const readOnce = { ...(counters().sume as NonNullable<Counters['sume']>), providerReads: 11 };

  it('are differences, null for a part that is not ours', () => {
    const after = counters({ sume: readOnce, redisCommands: 160, dynamoWrites: null });
    expect(measuredBetween(counters(), after)).toMatchObject({
      billedClips: 0,
      providerReads: 1,
      redisCommands: 60,
      redisRoundTrips: 0,
      dynamoWrites: null,
      latenessMs: { p50: 1.2, p99: 5.7, max: 9 },
    });
    expect(measuredBetween(undefined, after).billedClips).toBeNull();
  });

  it('are unknown for a part that was started anew, except for the clips it keeps on record', () => {
    const after = counters({ redisCommands: 3, restarts: { sume: 1, redis: 1, dynamo: 0 } });
    expect(measuredBetween(counters(), after)).toEqual({
      billedClips: 0,
      providerReads: null,
      earlyReads: null,
      duplicateReads: null,
      latenessMs: null,
      redisCommands: null,
      redisRoundTrips: null,
      dynamoWrites: 0,
    });
  });

  it('know no lateness when there was no read, and then say what is unfinished', () => {
    const measured = measuredBetween(counters(), counters());
    expect(measured).toMatchObject({ providerReads: 0, latenessMs: null });
    const lines = summaryLines({ submitted: 6, completed: 1, failed: 0, lost: 0, ...measured, wallSeconds: 3.9 });
    expect(lines.slice(0, 3)).toEqual([
      '  1 of 6 clips completed, 5 unfinished, 3 s since the start.',
      '  The next start goes on with those that are unfinished.',
      '  The provider billed 0 clips and saw no read yet.',
    ]);
  });

  it('are told in words, the unknown ones left out', () => {
    const after = counters({ sume: readOnce, redisCommands: null, redisRoundTrips: null });
    const measured = measuredBetween(counters(), after);
    const text = summaryLines({ submitted: 6, completed: 5, failed: 0, lost: 1, ...measured, wallSeconds: 12.3 }).join(
      '\n',
    );
    expect(text).toContain('5 of 6 clips completed, 1 LOST, 12 s');
    expect(text).toContain('saw 1 reads: 0 early, 0 duplicate; lateness p50 1.2 ms, p99 5.7 ms.');
    expect(text).toContain('Spent: 0 DynamoDB writes.');
  });
});

describe('the commands to try', () => {
  it('can be pasted one after the other: the second names the job that the first makes', () => {
    const [, , given, submit, read] = tryLines('http://127.0.0.1:4711', 'pk_local_1');
    expect(given).toBe('  export API=http://127.0.0.1:4711 TOKEN=pk_local_1');
    const key = /Idempotency-Key: (\S+)"/.exec(submit ?? '')?.[1] ?? '';
    const [{ owner } = { owner: '' }] = JSON.parse(
      tokenList({ apiToken: 'pk_local_1', redisToken: '', sumeKey: '' }),
    ) as { owner: string }[];
    expect(read).toContain(`/v1/jobs/${jobIdFor(owner, key)}"`);
    for (const line of [submit, read]) expect(line).not.toMatch(/[<>]/);
  });
});
