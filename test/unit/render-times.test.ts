import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  binCount,
  binOf,
  earlyShare,
  firstReadMs,
  type Generation,
  generationMax,
  lateMax,
  lowerEdgeMs,
  noBins,
  noRenderTimes,
  predictedEndMs,
  predictMin,
  type RenderTimes,
  renderKind,
  samplesMin,
  spanMinMs,
  turned,
  watchMax,
} from '../../lib/render-times.ts';
import { jobWith, startMs } from '../support/jobs.ts';

/** Ages in s, as a generation that began at `startMs`. */
function generation(seenS: readonly number[], foundS: readonly number[] = []): Generation {
  return { seen: bins(seenS), found: bins(foundS), firstAtMs: seenS.length === 0 ? null : startMs };
}

function bins(agesS: readonly number[]): number[] {
  const counts = [...noBins];
  for (const age of agesS) counts[binOf(age * 1_000)] = (counts[binOf(age * 1_000)] ?? 0) + 1;
  return counts;
}

function times(given: Partial<RenderTimes>): RenderTimes {
  return { ...noRenderTimes, lastAtMs: startMs + spanMinMs, ...given };
}

const repeated = (ageS: number, count: number) => Array.from({ length: count }, () => ageS);

describe('bins', () => {
  test('hold every age between their edges, and grow by about a fifth from a second to a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200_000_000 }), (ageMs) => {
        const bin = binOf(ageMs);
        expect(ageMs).toBeGreaterThanOrEqual(lowerEdgeMs(bin));
        if (bin < binCount - 1) expect(ageMs).toBeLessThan(lowerEdgeMs(bin + 1));
      }),
      { numRuns: 5_000 },
    );
    expect([0, 1, binCount - 1].map(lowerEdgeMs)).toEqual([0, 1_000, 86_400_000]);
    for (let bin = 1; bin < binCount; bin++) expect(binOf(lowerEdgeMs(bin))).toBe(bin);
    expect([Number.NaN, -5, Number.POSITIVE_INFINITY].map(binOf)).toEqual([0, 0, binCount - 1]);
  });
});

describe('the first read', () => {
  test('is not delayed on the word of too few samples, nor of those of one burst', () => {
    const enough = generation(repeated(120, samplesMin));
    expect(firstReadMs(noRenderTimes)).toBeNull();
    expect(firstReadMs(times({ current: generation(repeated(120, samplesMin - 1)) }))).toBeNull();
    expect(firstReadMs(times({ current: enough, lastAtMs: startMs + spanMinMs - 1 }))).toBeNull();
    expect(firstReadMs(times({ current: enough }))).toBe(lowerEdgeMs(binOf(120_000)));
    expect(firstReadMs(times({ current: generation([]), previous: enough }))).toBe(lowerEdgeMs(binOf(120_000)));
  });

  test('comes when fewer than one render in fifty were last seen running before, by both generations together', () => {
    const ages = fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: samplesMin, maxLength: 400 });
    fc.assert(
      fc.property(ages, fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 400 }), (before, since) => {
        const firstMs = firstReadMs(times({ previous: generation(before), current: generation(since) }));
        if (firstMs === null) return;
        const all = [...before, ...since];
        expect(all.filter((age) => age * 1_000 < firstMs).length).toBeLessThan(all.length * earlyShare);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is not delayed where renders end before a second read', () => {
    expect(firstReadMs(times({ current: generation([...repeated(5, 2), ...repeated(200, 98)]) }))).toBeNull();
    expect(firstReadMs(times({ current: generation([...repeated(5, 1), ...repeated(200, 99)]) }))).not.toBeNull();
  });

  test('is not delayed any more once too many delayed ones were late', () => {
    const known = { current: generation(repeated(120, samplesMin)) };
    expect(firstReadMs(times({ ...known, late: lateMax - 1, delayed: 50 }))).not.toBeNull();
    expect(firstReadMs(times({ ...known, late: lateMax, delayed: 50 }))).toBeNull();
  });
});

describe('what is kept', () => {
  test('becomes the previous generation when it is full, and one stands behind it at most', () => {
    const full = generation(repeated(120, generationMax), repeated(130, 900));
    const old = generation(repeated(500, generationMax));
    expect(turned(times({ current: generation(repeated(120, generationMax - 1)) }))).toBeNull();
    expect(turned(times({ current: full, lastAtMs: startMs + spanMinMs - 1 }))).toBeNull();
    const next = turned(times({ current: full, previous: old, delayed: 10, late: 1 }));
    expect(next).toMatchObject({ previous: full, current: generation([]), delayed: 10, late: 1 });
  });

  test('forgets a slower time within two generations', () => {
    let kept = times({ current: generation(repeated(500, generationMax)) });
    kept = turned(kept) ?? kept;
    kept = turned({ ...kept, current: generation(repeated(50, generationMax)) }) ?? kept;
    expect(kept.previous?.seen).toEqual(bins(repeated(50, generationMax)));
    expect(firstReadMs(kept)).toBe(lowerEdgeMs(binOf(50_000)));
  });

  test('is nothing once too many first reads were late, and these are counted anew every hundred', () => {
    const current = generation(repeated(120, samplesMin));
    expect(turned(times({ current, delayed: 20, late: lateMax }))).toEqual(noRenderTimes);
    expect(turned(times({ current, delayed: watchMax - 1, late: 3 }))).toBeNull();
    expect(turned(times({ current, delayed: watchMax, late: 3 }))).toMatchObject({ current, delayed: 0, late: 0 });
  });
});

describe('the predicted end', () => {
  test('is where four of five ends were found, once there are some', () => {
    const found = [...repeated(30, 2), ...repeated(100, 10), ...repeated(160, 10), ...repeated(900, 2)];
    expect(predictedEndMs(times({ current: generation([], found.slice(0, predictMin - 1)) }))).toBeNull();
    const [from, to] = predictedEndMs(times({ current: generation([], found) })) ?? [0, 0];
    expect(from).toBe(lowerEdgeMs(binOf(100_000)));
    expect(to).toBe(lowerEdgeMs(binOf(160_000) + 1));
  });
});

test('a kind is one provider, model, duration in whole seconds and resolution; nothing else of the input counts', () => {
  const of = (input: Record<string, string | number>) => renderKind(jobWith({ input }));
  const kind = of({ model: 'seedance-2-mini', duration: 8, resolution: '720p', prompt: 'a' });
  expect(kind).toMatch(/^[0-9a-f]{32}$/);
  expect(of({ model: 'seedance-2-mini', duration: 7.5, resolution: '720p', prompt: 'b', seed: 4 })).toBe(kind);
  const others = [
    { model: 'seedance-2', duration: 8, resolution: '720p' },
    { model: 'seedance-2-mini', duration: 9, resolution: '720p' },
    { model: 'seedance-2-mini', duration: 8, resolution: '1080p' },
    { model: 'seedance-2-mini', duration: 8 },
    { model: 'seedance-2-mini', resolution: '720p' },
  ].map((input) => of(input as Record<string, string | number>));
  expect(new Set([kind, ...others]).size).toBe(6);
});
