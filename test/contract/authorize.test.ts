import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { answer, hang, json, reset, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/* The authorizer as it is deployed, with the SDK's own client, over a parameter store that speaks SSM's protocol. */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const name = '/pollkeeper/test/api-tokens';

let ssm: ScriptedServer;
let authorize: typeof import('../../functions/authorize.ts').handler;
const lines: string[] = [];
let nowMs = Date.UTC(2026, 10, 30);

/** What the parameter holds from now on. */
function store(entries: unknown): void {
  const Value = typeof entries === 'string' ? entries : JSON.stringify(entries);
  const Parameters = [{ Name: name, Type: 'SecureString', Value, Version: 1 }];
  ssm.script(json({ Parameters, InvalidParameters: [] }, 200, { 'content-type': 'application/x-amz-json-1.1' }));
}

async function context(token: string, header = 'authorization') {
  const result = await authorize({ headers: { [header]: `Bearer ${token}` } });
  expect(result.isAuthorized).toBe(true);
  return result.context;
}

function later(ms: number): void {
  nowMs += ms;
  vi.setSystemTime(nowMs);
}

const acme = { owner: 'acme', sha256: sha256('acme-1') };
const reader = { owner: 'acme', sha256: sha256('acme-2'), scopes: ['read'], name: 'dashboard' };

beforeAll(async () => {
  ssm = await startScriptedServer();
  vi.useFakeTimers({ now: nowMs, toFake: ['Date'] });
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  vi.stubEnv('SECRETS_PREFIX', '/pollkeeper/test');
  vi.stubEnv('API_TOKENS', '');
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', ssm.url);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  ({ handler: authorize } = await import('../../functions/authorize.ts'));
});

afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await ssm.close();
});

describe('the authorizer over SSM', () => {
  it('reads the list once, decrypted, and tells owner, scopes and the token’s name', async () => {
    store([acme, reader]);
    const all = { owner: 'acme', scopes: 'read submit admin' };
    const asked = await Promise.all([context('acme-1'), context('acme-1', 'Authorization'), context('acme-2')]);
    expect(asked).toEqual([all, all, { owner: 'acme', scopes: 'read', token: 'dashboard' }]);
    expect(ssm.received).toHaveLength(1);
    expect(JSON.parse(ssm.received[0]?.body ?? '')).toEqual({ Names: [name], WithDecryption: true });
    expect(ssm.received[0]?.headers['x-amz-target']).toBe('AmazonSSM.GetParameters');
  });

  it('T105 makes no owner of a token of another length, none, 10 KB, or one of the same length with longer characters', async () => {
    const tokens = [
      'acme-',
      'acme-11',
      '',
      'x'.repeat(10_240),
      'äcme-1',
      'acmé-1',
      '\ud83d',
      sha256('acme-1'),
      'acme-1, Bearer acme-1',
    ];
    for (const token of tokens) expect(await context(token)).toEqual({});
    for (const headers of [undefined, {}, { authorization: '' }]) {
      expect(await authorize(headers === undefined ? {} : { headers })).toEqual({ isAuthorized: true, context: {} });
    }
  });

  it('refuses a token within a minute after it was taken off the list, and takes a new one, without a restart', async () => {
    store([reader]);
    later(59_000);
    expect(await context('acme-1')).toMatchObject({ owner: 'acme' });
    later(1_000);
    expect(await context('acme-1')).toEqual({});
    expect(ssm.received).toHaveLength(1);
    store([{ ...acme, sha256: sha256('acme-3') }]);
    later(60_000);
    expect([await context('acme-2'), await context('acme-3')]).toEqual([
      {},
      { owner: 'acme', scopes: 'read submit admin' },
    ]);
  });

  it('says that it can not tell while SSM is away, refuses or holds no list that can be read, and is never held up for long', async () => {
    const refused = json({ __type: 'AccessDeniedException', message: 'not authorized' }, 400);
    for (const trouble of [reset, answer(500), refused, hang]) {
      ssm.script(trouble);
      later(60_000);
      const from = performance.now();
      expect(await context('acme-3')).toEqual({ unavailable: 'tokens' });
      expect(performance.now() - from).toBeLessThan(4_000);
    }
    for (const list of ['', '{', [{ ...reader, sha256: 'secret' }]]) {
      store(list);
      later(60_000);
      expect(await context('acme-2')).toEqual({ unavailable: 'tokens' });
    }
    // Whoever sends no token is nobody all the same.
    expect(await authorize({ headers: {} })).toEqual({ isAuthorized: true, context: {} });
    store([reader]);
    later(2_000);
    expect(await context('acme-2')).toMatchObject({ owner: 'acme' });
    expect(lines.length).toBe(7);
    expect(lines.at(-1)).toContain('entry 1 has no valid sha256');
    expect(lines.join()).not.toMatch(/secret|acme-\d|[0-9a-f]{64}/);
  });
});
