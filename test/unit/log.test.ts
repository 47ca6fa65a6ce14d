import { describe, expect, it } from 'vitest';
import { messageOf } from '../../lib/errors.ts';
import { jsonLog, metricLine } from '../../lib/log.ts';
import { startMs } from '../support/jobs.ts';

describe('the log', () => {
  it('writes one JSON line per event, with its time, level and fields', () => {
    const lines: string[] = [];
    const log = jsonLog(
      (line) => lines.push(line),
      () => startMs,
    );
    log.info('drain_ended', { steps: 3, ended: 'idle', reason: undefined });
    log.warn('provider_trouble', { error: 'two\nlines\u2028 and "quotes" \ud83d' });
    log.error('step_crashed');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { at: '2026-09-21T14:13:20.000Z', level: 'info', event: 'drain_ended', steps: 3, ended: 'idle' },
      expect.objectContaining({ level: 'warn', error: 'two\nlines\u2028 and "quotes" \ud83d' }),
      { at: '2026-09-21T14:13:20.000Z', level: 'error', event: 'step_crashed' },
    ]);
    expect(lines.filter((line) => line.includes('\n'))).toEqual([]);
  });

  it('makes metrics with units by their names: ms where the name ends so, else counts', () => {
    expect(JSON.parse(metricLine('dev', { dueLagMs: 12, Claims: 3 }, startMs))).toEqual({
      _aws: {
        Timestamp: startMs,
        CloudWatchMetrics: [
          {
            Namespace: 'Pollkeeper',
            Dimensions: [['Stage']],
            Metrics: [
              { Name: 'dueLagMs', Unit: 'Milliseconds' },
              { Name: 'Claims', Unit: 'Count' },
            ],
          },
        ],
      },
      Stage: 'dev',
      dueLagMs: 12,
      Claims: 3,
    });
  });
});

it('The text of any thrown value is one bounded line, without its stack', () => {
  const thrown = [new TypeError('a\n  b\tc'), 'text', null, undefined, 7, Object.create(null)];
  expect(thrown.map(messageOf)).toEqual([
    'TypeError: a b c',
    'text',
    'null',
    'undefined',
    '7',
    '[Object: null prototype] {}',
  ]);
  expect(messageOf(new Error('x'.repeat(10_000)))).toHaveLength(500);
});
