import { expect, test } from 'vitest';
import { measure } from '../bench/first-read/measure.ts';
import { outcomeAt, renders } from '../bench/first-read/renders.ts';

test('with the delayed first read fewer reads bring the same news, also after renders have become faster', async () => {
  const { all, secondHalf, byKind, shifts, readsFell, newsNotLater } = await measure('1', 2_000, 2);
  expect({ readsFell, newsNotLater }).toEqual({ readsFell: true, newsNotLater: true });
  expect(all.off.jobs).toBe(2_000);
  expect(all.on.jobs).toBe(2_000);
  expect(secondHalf.on.readsPerCompleted).toBeLessThan(secondHalf.off.readsPerCompleted * 0.85);
  // Short renders that often fail at once: nothing is gained there, and nothing risked.
  const flash = byKind.find(({ kind }) => kind.startsWith('flash'));
  expect(flash?.on).toEqual(flash?.off);
  expect(shifts.map(({ times }) => times)).toEqual([2, 5]);
  for (const { off, on, lateJobs } of shifts) {
    expect(on.newsP95Ms).toBeLessThanOrEqual(off.newsP95Ms * 1.03);
    expect(lateJobs).toBeLessThanOrEqual(on.jobs * 0.02);
  }
});

test('the same seed is the same measurement', async () => {
  expect(await measure('7', 500, 2)).toEqual(await measure('7', 500, 2));
  expect(renders('7', 500, 2)).not.toEqual(renders('8', 500, 2));
});

test('a render is queued, then processed, then ended, and hints as Sume does', () => {
  const [any] = renders('1', 500, 2).filter(({ queuedMs, fails }) => queuedMs > 20_000 && !fails);
  if (any === undefined) throw new Error('no render was queued');
  expect(outcomeAt(any, 0)).toMatchObject({ kind: 'running', phase: 'queued' });
  expect(outcomeAt(any, any.queuedMs)).toMatchObject({ kind: 'running', phase: 'processing' });
  expect(outcomeAt(any, any.endsMs)).toMatchObject({ kind: 'completed' });
});
