import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../lib/http/problem.ts';
import { bodyBytesMax, readSubmitBody } from '../../lib/http/submit-body.ts';

const input = { model: 'seedance-2-mini', prompt: 'A lighthouse at dusk' };

/** The problem that a body meets, as status, code and field. Anything else that is thrown fails the test. */
function refusal(text: string): [status: number, code: string, field: string | undefined] {
  try {
    readSubmitBody(text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.status, error.code, error.field];
  }
  throw new Error(`taken: ${text.slice(0, 100)}`);
}
const refused = (body: unknown) => refusal(JSON.stringify(body));
const nested = (levels: number) => `{"input":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

describe('the body of a submit', () => {
  it('needs a model and a prompt only; the rest has defaults', () => {
    expect(readSubmitBody(JSON.stringify({ input }))).toEqual({
      input,
      priority: 5,
      deadlineSeconds: 86_400,
      metadata: {},
    });
  });

  it('is taken with a deadline, metadata, and fields of the provider that we do not know', () => {
    const own = { ...input, duration: 7.5, resolution: '720p', seed: 0, camera: { path: [1, 2] }, webhook_url: null };
    const text = JSON.stringify({ input: own, deadline_seconds: 60, metadata: { scene: '12', constructor: '' } });
    expect(readSubmitBody(text)).toEqual({
      input: own,
      priority: 5,
      deadlineSeconds: 60,
      metadata: { scene: '12', constructor: '' },
    });
  });

  it('may have a priority from 0 to 9', () => {
    const taken = (priority: number) => readSubmitBody(JSON.stringify({ input, priority })).priority;
    expect([0, 5, 9].map(taken)).toEqual([0, 5, 9]);
  });

  it('goes to the provider as it was sent, in its own order, also a key named __proto__', () => {
    const text = '{"z":1,"prompt":"p","__proto__":{"admin":true},"model":"m","a":{"__proto__":[],"constructor":1}}';
    const taken = readSubmitBody(`{"input":${text}}`).input;
    expect(JSON.stringify(taken)).toBe(text);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it('goes through untouched whatever else the input holds', () => {
    const extra = fc.dictionary(
      fc.string().filter((key) => !['model', 'prompt', 'duration', 'resolution'].includes(key)),
      fc.jsonValue({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(extra, (fields) => {
        const text = JSON.stringify({ ...fields, ...input });
        expect(JSON.stringify(readSubmitBody(`{"input":${text}}`).input)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a body that is refused', () => {
  it.each(['', ' ', '{', 'nonsense', '{"input":}', "{'input':1}", '{"input":1,}', '\0', '\ufeff{}', 'NaN'])(
    'T72 is not JSON: %j',
    (text) => {
      expect(refusal(text)).toEqual([400, 'body_not_json', 'body']);
    },
  );

  it.each(['null', '[]', '"x"', '5', 'true', '[{"input":{}}]'])('T72 is JSON but no object: %s', (text) => {
    expect(refusal(text)).toEqual([400, 'body_invalid', 'body']);
  });

  it('T72 is too large, counted in bytes: 5 MB, or one byte over', () => {
    const sized = (bytes: number) => {
      const frame = Buffer.byteLength(JSON.stringify({ input: { ...input, note: '' } }));
      return JSON.stringify({ input: { ...input, note: 'x'.repeat(bytes - frame) } });
    };
    expect(readSubmitBody(sized(bodyBytesMax)).input.model).toBe(input.model);
    expect(refusal(sized(bodyBytesMax + 1))).toEqual([413, 'body_too_large', 'body']);
    expect(refusal('x'.repeat(5_000_000))).toEqual([413, 'body_too_large', 'body']);
    expect(refusal(JSON.stringify({ input: { ...input, note: 'é'.repeat(bodyBytesMax / 2) } }))[0]).toBe(413);
  });

  it('T72 nests too deeply: 10,000 levels of objects or lists, or one level over', () => {
    for (const text of [nested(10_000), nested(32), `{"input":${'['.repeat(10_000)}${']'.repeat(10_000)}}`]) {
      expect(refusal(text)).toEqual([400, 'body_too_deep', 'body']);
    }
    expect(refusal(nested(31))).toEqual([400, 'body_invalid', 'input.model']);
  });

  it.each([
    ['no input', {}, 'input'],
    ['input null', { input: null }, 'input'],
    ['input a list', { input: [input] }, 'input'],
    ['no model', { input: { prompt: 'p' } }, 'input.model'],
    ['an empty model', { input: { ...input, model: '' } }, 'input.model'],
    ['a model of 201 characters', { input: { ...input, model: 'm'.repeat(201) } }, 'input.model'],
    ['no prompt', { input: { model: 'm' } }, 'input.prompt'],
    ['a prompt that is a number', { input: { ...input, prompt: 7 } }, 'input.prompt'],
    ['a prompt of 20,001 characters', { input: { ...input, prompt: 'p'.repeat(20_001) } }, 'input.prompt'],
    ['a duration in words', { input: { ...input, duration: '8' } }, 'input.duration'],
    ['a duration of 0', { input: { ...input, duration: 0 } }, 'input.duration'],
    ['a duration in milliseconds', { input: { ...input, duration: 8_000 } }, 'input.duration'],
    ['a resolution of null', { input: { ...input, resolution: null } }, 'input.resolution'],
    ['metadata null', { input, metadata: null }, 'metadata'],
    ['metadata a list', { input, metadata: ['a'] }, 'metadata'],
    ['a metadata value that is no text', { input, metadata: { scene: 12 } }, 'metadata.scene'],
    ['a metadata value of 513 characters', { input, metadata: { scene: 's'.repeat(513) } }, 'metadata.scene'],
    ['a metadata key of 65 characters', { input, metadata: { ['k'.repeat(65)]: '' } }, `metadata.${'k'.repeat(65)}`],
    ['an empty metadata key', { input, metadata: { '': 'x' } }, 'metadata.'],
    ['an unknown field beside input', { input, deadlineSeconds: 60 }, 'deadlineSeconds'],
    ['a field named constructor', { input, constructor: 1 }, 'constructor'],
  ])('names the field: %s', (_name, body, field) => {
    expect(refused(body)).toEqual([400, 'body_invalid', field]);
  });

  it('names the field __proto__ beside input too, and does not look for input behind it', () => {
    expect(refusal(`{"input":${JSON.stringify(input)},"__proto__":{}}`)).toEqual([400, 'body_invalid', '__proto__']);
    expect(refusal(`{"__proto__":{"input":${JSON.stringify(input)}}}`)).toEqual([400, 'body_invalid', 'input']);
    expect(refusal('{"input":{"__proto__":{"model":"m","prompt":"p"}}}')[2]).toBe('input.model');
  });

  it('has more than 20 entries of metadata', () => {
    const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, 'v']));
    expect(Object.keys(readSubmitBody(JSON.stringify({ input, metadata: entries(20) })).metadata)).toHaveLength(20);
    expect(refused({ input, metadata: entries(21) })).toEqual([400, 'body_invalid', 'metadata']);
  });

  it.each([
    ['under a minute', 59],
    ['over a week', 604_801],
    ['an hour in milliseconds', 3_600_000],
    ['a time since 1970 in seconds', 1_790_000_000],
    ['a time since 1970 in milliseconds', 1_790_000_000_000],
    ['a fraction', 90.5],
    ['zero', 0],
    ['negative', -60],
    ['a text', '3600'],
    ['null', null],
    ['a list', [3600]],
  ])('T35 has a deadline that can’t be seconds from now: %s', (_name, seconds) => {
    expect(refused({ input, deadline_seconds: seconds })).toEqual([400, 'body_invalid', 'deadline_seconds']);
  });

  it.each([-1, 10, 4.5, 1e9, '5', 'high', null, [5], true])('has a priority that is none: %j', (priority) => {
    expect(refused({ input, priority })).toEqual([400, 'body_invalid', 'priority']);
    expect(() => readSubmitBody(JSON.stringify({ input, priority }))).toThrow(
      'priority: must be a whole number from 0 to 9, where 9 goes first',
    );
  });

  it('T35 has a deadline out of every range: 1e400', () => {
    const text = `{"input":${JSON.stringify(input)},"deadline_seconds":1e400}`;
    expect(refusal(text)).toEqual([400, 'number_inexact', 'body']);
  });

  it.each(['12345678901234567890', '-9007199254740993', '1e400', '[{"a":1e999}]'])(
    'has a number that can not be kept exactly: %s',
    (number) => {
      const text = `{"input":{"model":"m","prompt":"12345678901234567890 \\" 1e400","seed":${number}}}`;
      expect(refusal(text)).toEqual([400, 'number_inexact', 'body']);
    },
  );

  it('T72 is told so by a problem with a field, whatever JSON it is', () => {
    const names = fc.constantFrom('input', 'model', 'prompt', 'duration', 'metadata', 'deadline_seconds', 'x');
    const object = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(fc.oneof(object, fc.jsonValue(), fc.record({ input: object })), (body) => {
        const { model, prompt } = (body as { input?: { model?: unknown; prompt?: unknown } } | null)?.input ?? {};
        fc.pre(typeof model !== 'string' || typeof prompt !== 'string');
        const [status, , field] = refused(body);
        expect([status, (field ?? '') !== '' && (field ?? '').length <= 200]).toEqual([400, true]);
      }),
      { numRuns: 1_000 },
    );
  });
});
