import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import { builtInPrices, estimateMicros, readPrices } from '../../lib/prices.ts';

const clip: JsonObject = { model: 'seedance-2-mini', prompt: 'p', resolution: '720p', duration: 8 };

describe('an estimate', () => {
  it('is linear in the duration, in whole micro-dollars: $1.89 for ten seconds', () => {
    const at = (duration: number) => estimateMicros({ ...clip, duration }, builtInPrices);
    expect([10, 8, 1, 7.5, 0.000_01].map(at)).toEqual([1_890_000, 1_512_000, 189_000, 1_417_500, 2]);
  });

  it.each<[string, JsonObject]>([
    ['another model', { model: 'veo-4' }],
    ['another resolution', { resolution: '1080p' }],
    ['another spelling of the resolution', { resolution: '720P' }],
    ['a duration in words', { duration: '8' }],
    ['a duration of 0', { duration: 0 }],
    ['a negative duration', { duration: -8 }],
    ['a duration beyond all money', { duration: 1e300 }],
  ])('is not made for %s', (_, other) => {
    expect(estimateMicros({ ...clip, ...other }, builtInPrices)).toBeNull();
  });

  it.each(['model', 'resolution', 'duration'])('is not made without a %s', (field) => {
    const { [field]: _, ...rest } = clip;
    expect(estimateMicros(rest, builtInPrices)).toBeNull();
  });

  it('is null or a whole number, whatever the input holds', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('seedance-2-mini', '720p', 8, Number.MAX_VALUE));
    const input = fc.dictionary(fc.constantFrom('model', 'resolution', 'duration'), value) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(input, (given) => {
        const micros = estimateMicros(given, readPrices('[{"model":"seedance-2-mini","usd_per_second":0.1}]'));
        expect(micros === null || (Number.isSafeInteger(micros) && micros >= 0)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('PRICES', () => {
  it('that is not set leaves the built-in prices', () => {
    expect([readPrices(undefined), readPrices(' '), readPrices('[]')]).toEqual(Array(3).fill(builtInPrices));
  });

  it('adds models, and goes before what is built in', () => {
    const own = [
      { model: 'seedance-2-mini', resolution: '720p', usd_per_second: 0.2 },
      { model: 'x', usd_per_second: 0.000_5 },
    ];
    const prices = readPrices(JSON.stringify(own));
    expect(estimateMicros(clip, prices)).toBe(1_600_000);
    expect(estimateMicros({ model: 'x', duration: 3, resolution: '4k' }, prices)).toBe(1_500);
    expect(estimateMicros({ model: 'x', duration: 3 }, prices)).toBe(1_500);
  });

  it('has one price for a resolution and another for all others, in any order', () => {
    const text = (entries: object[]) => JSON.stringify(entries);
    const any = { model: 'x', usd_per_second: 1 };
    const large = { model: 'x', resolution: '4k', usd_per_second: 3 };
    for (const entries of [
      [any, large],
      [large, any],
    ]) {
      const prices = readPrices(text(entries));
      const at = (resolution: string) => estimateMicros({ model: 'x', resolution, duration: 2 }, prices);
      expect([at('4k'), at('720p')]).toEqual([6_000_000, 2_000_000]);
    }
    const general = readPrices(text([{ model: 'seedance-2-mini', usd_per_second: 1 }]));
    expect(estimateMicros(clip, general)).toBe(8_000_000);
  });

  it.each([
    ['no JSON', '{', /not JSON/],
    ['no list', '{}', /not a list/],
    ['an entry that is none', '[1]', /entry 1: model/],
    ['no model', '[{"usd_per_second":1}]', /entry 1: model/],
    ['an empty model', '[{"model":" ","usd_per_second":1}]', /entry 1 \( \): model/],
    ['no price', '[{"model":"x"}]', /entry 1 \(x\): usd_per_second/],
    ['a price of 0', '[{"model":"x","usd_per_second":0}]', /usd_per_second must be a number of US dollars above 0/],
    ['a negative price', '[{"model":"x","usd_per_second":-1}]', /usd_per_second/],
    ['a price in micro-dollars', '[{"model":"x","usd_per_second":189000}]', /up to 1000/],
    ['a price in words', '[{"model":"x","usd_per_second":"0.2"}]', /usd_per_second/],
    ['a resolution of null', '[{"model":"x","resolution":null,"usd_per_second":1}]', /resolution/],
    ['a field too many', '[{"model":"x","usd_per_second":1,"currency":"EUR"}]', /currency must be left out/],
    [
      'two for one clip',
      '[{"model":"x","usd_per_second":1},{"model":"y","usd_per_second":1},{"model":"x","usd_per_second":2}]',
      /1 and 3, for x at any resolution/,
    ],
  ])('with %s is refused by a line that names the entry and the field', (_, text, message) => {
    expect(() => readPrices(text)).toThrow(ConfigError);
    expect(() => readPrices(text)).toThrow(message);
  });
});
