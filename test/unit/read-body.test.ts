import { describe, expect, it } from 'vitest';
import { batchBytesMax, readAdoptBody, readBatchBody } from '../../lib/http/batch-body.ts';
import { Problem } from '../../lib/http/problem.ts';
import { readBody } from '../../lib/http/read-body.ts';
import { readQuery } from '../../lib/http/read-query.ts';
import { endpointBody, endpointPatch, rotateSecretBody } from '../../lib/http/schema/endpoint-bodies.ts';
import { deliveriesQuery, jobQuery, jobsQuery } from '../../lib/http/schema/queries.ts';
import { submitBody } from '../../lib/http/schema/submit.ts';

const input = { model: 'seedance-2-mini', prompt: 'A lighthouse at dusk' };
const bounds = { bytesMax: 1_000 };

/** The problem that is thrown, as status, code, field and detail. Anything else that is thrown fails the test. */
function refusal(read: () => unknown): [number, string, string | undefined, string] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.status, error.code, error.field, error.message];
  }
  throw new Error('taken');
}

/** Of each item: its key or id, or the code and field of its problem. */
function outcomes(items: readonly (object | Problem)[]): unknown[] {
  return items.map((item) => (item instanceof Problem ? [item.code, item.field] : Object.values(item).find(isKey)));
}
const isKey = (value: unknown) => typeof value === 'string' && value.startsWith('k');

const item = (nth: number, more = {}) => ({ idempotency_key: `k${nth}`, input, ...more });

describe('a body that is refused', () => {
  it.each([
    [{}, 'input: is missing.'],
    [{ input: null }, 'input: must be an object.'],
    [{ input: { prompt: 'p' } }, 'input.model: is missing.'],
    [{ input: { ...input, model: '' } }, 'input.model: must have at least 1 character.'],
    [{ input: { ...input, model: 7 } }, 'input.model: must be a text.'],
    [{ input: { ...input, duration: 0 } }, 'input.duration: must be more than 0.'],
    [{ input, deadline_seconds: 59 }, 'deadline_seconds: must be at least 60.'],
    [{ input, deadline_seconds: 90.5 }, 'deadline_seconds: must be a whole number.'],
    [{ input, priority: 10 }, 'priority: must be a whole number from 0 to 9, where 9 goes first.'],
    [{ input, deadline: 60 }, 'deadline: there is no such field here.'],
    [{ input, metadata: { '': 'x' } }, 'metadata.: has a name that is empty or too long.'],
    [{ input, metadata: { a: 1 } }, 'metadata.a: must be a text.'],
    [{ input, batch: 'a b' }, 'batch: must be 1 to 64 characters of A–Z, a–z, 0–9, _, . and -.'],
    [{ input, webhook_url: `https://${'a'.repeat(2_000)}` }, 'webhook_url: must have at most 2000 characters.'],
    [{ input, webhook_events: [] }, 'webhook_events: must have at least 1 item.'],
    [{ input, webhook_events: ['job.lost', 'job.lost'] }, 'webhook_events: must not name a type twice.'],
    [{ input, webhook_events: 'job.lost' }, 'webhook_events: must be a list.'],
  ])('is told what is wrong in a sentence: %j', (body, sentence) => {
    const [status, code, , detail] = refusal(() => readBody(submitBody, JSON.stringify(body), { bytesMax: 10_000 }));
    expect([status, code, detail]).toEqual([400, 'body_invalid', sentence]);
  });

  it('names the types of events that there are', () => {
    const [, , field, detail] = refusal(() =>
      readBody(endpointBody, '{"url":"https://a.b","events":["job.done"]}', bounds),
    );
    expect([field, detail]).toEqual([
      'events.0',
      expect.stringMatching(/^events\.0: must be one of job\.processing, /),
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('has a field named %s', (name) => {
    const body = `{"url":"https://a.b","${name}":{}}`;
    expect(refusal(() => readBody(endpointBody, body, bounds)).slice(0, 3)).toEqual([400, 'body_invalid', name]);
  });

  it('T72 is too large, too deep, not exact, or nothing at all', () => {
    const sized = (text: string) => refusal(() => readBody(endpointPatch, text, bounds)).slice(0, 2);
    expect(sized(`"${'é'.repeat(500)}"`)).toEqual([413, 'body_too_large']);
    expect(sized(`{"a":${'['.repeat(400)}${']'.repeat(400)}}`)).toEqual([400, 'body_too_deep']);
    expect(sized('{"a":9007199254740993}')).toEqual([400, 'number_inexact']);
    expect(sized('')).toEqual([400, 'body_not_json']);
  });
});

it('a body that may be empty has its defaults', () => {
  const read = (text: string) => readBody(rotateSecretBody, text, { ...bounds, mayBeEmpty: true });
  expect([read(''), read(' \n'), read('{}'), read('{"overlap_seconds":0}')]).toEqual([
    ...Array(3).fill({ overlap_seconds: 86_400 }),
    { overlap_seconds: 0 },
  ]);
});

it('of an endpoint, null stands for the usual events, and what is left out is left alone', () => {
  expect(readBody(endpointPatch, '{"events":null}', bounds)).toEqual({ events: null });
});

describe('a body of many items', () => {
  it('gives each item what stands beside the items, unless it says it itself', () => {
    const beside = { batch: 'b', account: 'sume', webhook_url: 'https://a.b', webhook_events: ['job.lost'] };
    const { items } = readBatchBody(
      JSON.stringify({ ...beside, items: [item(0), item(1, { batch: 'c', priority: 9 })] }),
    );
    const common = { input, account: 'sume', webhookUrl: 'https://a.b', webhookEvents: ['job.lost'], metadata: {} };
    expect(items).toEqual([
      { ...common, idempotencyKey: 'k0', batch: 'b', priority: 5, deadlineSeconds: 86_400 },
      { ...common, idempotencyKey: 'k1', batch: 'c', priority: 9, deadlineSeconds: 86_400 },
    ]);
  });

  it('refuses a wrong item alone', () => {
    const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`);
    const large = { ...input, note: 'x'.repeat(300_000) };
    const wrong = [
      item(1, { input: {} }),
      null,
      'x',
      item(4, { idempotency_key: 'a,b' }),
      item(5, { input: { ...input, deep } }),
    ];
    const { items } = readBatchBody(JSON.stringify({ items: [item(0), ...wrong, item(6, { input: large }), item(7)] }));
    expect(outcomes(items)).toEqual([
      'k0',
      ['body_invalid', 'input.model'],
      ['body_invalid', 'body'],
      ['body_invalid', 'body'],
      ['body_invalid', 'idempotency_key'],
      ['body_too_deep', 'body'],
      ['body_too_large', 'body'],
      'k7',
    ]);
  });

  it('refuses the item alone that has a number which can not be kept, wherever it stands', () => {
    const number = '12345678901234567890';
    const text = (nth: number, seed: string) =>
      `{"idempotency_key":"k${nth}","input":{"model":"m","prompt":"a, \\"] ${number}","seed":${seed}}}`;
    const body = `{"webhook_url":"b,[{","items":[${text(0, '1')},${text(1, `[{"x":[0,${number}]}]`)},${text(2, '1e400')},${text(3, '{"a":[1,2]}')}],"account":"sume"}`;
    expect(outcomes(readBatchBody(body).items)).toEqual([
      'k0',
      ['number_inexact', 'body'],
      ['number_inexact', 'body'],
      'k3',
    ]);
    // Of two lists the last one counts; an escape is the same name.
    const twice = `{"items":[${number}],"\\u0069tems":[${text(0, '1')},${text(1, number)}]}`;
    expect(outcomes(readBatchBody(twice).items)).toEqual(['k0', ['number_inexact', 'body']]);
  });

  it('is refused as a whole for what is wrong with the whole', () => {
    const of = (body: unknown) =>
      refusal(() => readBatchBody(typeof body === 'string' ? body : JSON.stringify(body))).slice(0, 3);
    expect(of({ items: [] })).toEqual([400, 'body_invalid', 'items']);
    expect(of({ items: {} })).toEqual([400, 'body_invalid', 'items']);
    expect(of({ items: Array(501).fill(item(0)) })).toEqual([400, 'body_invalid', 'items']);
    expect(of({ items: [item(0)], priority: 5 })).toEqual([400, 'body_invalid', 'priority']);
    expect(of(`{"items":[1],"batch":1e400}`)).toEqual([400, 'body_invalid', 'batch']);
    expect(of(' '.repeat(batchBytesMax + 1))).toEqual([413, 'body_too_large', 'body']);
    expect(readBatchBody(JSON.stringify({ items: Array(500).fill(item(0)) })).items).toHaveLength(500);
  });

  it('T72 is read within a moment, however hostile 5 MB are', () => {
    const times = (text: string) => text.repeat(batchBytesMax / text.length - 20);
    const deep = batchBytesMax / 2 - 20;
    for (const filling of [
      `"${times('\\"')}"`,
      `[${times('9007199254740993,')}0]`,
      '['.repeat(deep) + ']'.repeat(deep),
    ]) {
      const text = `{"items":[${filling}]}`;
      const fromMs = performance.now();
      refusalOrItems(() => readBatchBody(text));
      expect(performance.now() - fromMs, filling.slice(0, 20)).toBeLessThan(3_000);
    }
  });

  it('takes ids of renders made elsewhere, each by itself', () => {
    const ids = ['k0', '../x', '..', 'a/b', '', 'x'.repeat(201), 7, 'k7.A_~-'];
    const { items, defaults } = readAdoptBody(
      JSON.stringify({ batch: 'b', items: ids.map((id) => ({ provider_job_id: id })) }),
    );
    const wrong = ['body_invalid', 'provider_job_id'];
    expect(outcomes(items)).toEqual(['k0', wrong, wrong, wrong, wrong, wrong, wrong, 'k7.A_~-']);
    expect(defaults).toEqual({ batch: 'b' });
    expect(items[0]).toEqual({ providerJobId: 'k0', deadlineSeconds: 86_400, metadata: {} });
  });
});

function refusalOrItems(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

describe('a query', () => {
  it('has its defaults, and numbers of few decimal digits only', () => {
    expect(readQuery(jobsQuery, { limit: '7', state: 'lost', other: 'x' })).toEqual({ limit: 7, state: 'lost' });
    expect(readQuery(jobsQuery, {})).toEqual({ limit: 50 });
    expect([readQuery(jobQuery, {}), readQuery(jobQuery, { wait: '25' })]).toEqual([{ wait: 0 }, { wait: 25 }]);
  });

  it.each(['26', '-1', '', '1.5', '1e1', '0x1', ' 5', '٣', '5s', 'null'])('T109 is refused for wait=%j', (wait) => {
    expect(refusal(() => readQuery(jobQuery, { wait }))).toEqual([
      400,
      'wait_invalid',
      'wait',
      'wait must be a whole number of seconds from 0 to 25.',
    ]);
  });

  it('names the parameter that is wrong', () => {
    const of = (query: Record<string, string>) => refusal(() => readQuery(deliveriesQuery, query)).slice(1, 3);
    expect(of({ state: 'pending' })).toEqual(['state_invalid', 'state']);
    expect(of({ endpoint_id: 'whe_1' })).toEqual(['endpoint_id_invalid', 'endpoint_id']);
  });
});
