import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { gatewayEnvironment } from '../../infra/local/gateway/gateway-environment.ts';
import { readLocalAccounts } from '../../infra/local/stack/local-accounts.ts';
import { tokenList } from '../../infra/local/stack/local-keys.ts';
import { readAccounts } from '../../lib/accounts.ts';

const studio = { ACCOUNTS: '[{"id":"main"},{"id":"studio","secret":"sume-api-key-studio"}]' };
const sume = { url: 'https://api.sume.com/', apiKey: 'real', onThisMachine: false };
const here = { url: 'http://127.0.0.1:4100/', apiKey: 'sk_local', onThisMachine: true };

describe('the accounts of the local stack', () => {
  it('are one with slots and no budgets at the simulator, whose minutes are shorter than the clock’s', () => {
    const { setting, keys } = readLocalAccounts({}, undefined, 'made');
    const [account, ...others] = readAccounts(setting);
    expect(others).toEqual([]);
    expect(account).toMatchObject({ id: 'sume', keyVariable: 'SUME_API_KEY' });
    expect(account?.limits).toEqual({
      maxInFlight: 24,
      readsPerMinute: null,
      readsPerDay: null,
      createsPerMinute: null,
      createsPerDay: null,
    });
    expect(keys).toEqual({ SUME_API_KEY: 'made' });
  });

  it('have Sume’s own limits at Sume, and none at a provider that was found on this machine', () => {
    const limitsOf = (provider: typeof sume) =>
      readAccounts(readLocalAccounts({}, provider, 'made').setting)[0]?.limits;
    expect(limitsOf(sume)).toMatchObject({ maxInFlight: 24, readsPerMinute: 120, createsPerDay: 300 });
    expect(limitsOf(here)).toMatchObject({ maxInFlight: null, readsPerMinute: null });
    expect(readLocalAccounts({}, sume, 'made').keys).toEqual({ SUME_API_KEY: 'real' });
  });

  it('are those that ACCOUNTS names, each with a key of its own, made here unless it is given', () => {
    const { setting, keys } = readLocalAccounts(studio, undefined, 'made');
    expect(setting).toBe(studio.ACCOUNTS);
    expect(new Set(Object.values(keys)).size).toBe(2);
    expect(Object.keys(keys)).toEqual(['SUME_API_KEY', 'SUME_API_KEY_STUDIO']);
    expect(readLocalAccounts(studio, here, 'made').keys.SUME_API_KEY_STUDIO).toMatch(/^made_/);
    const given = { ...studio, SUME_API_KEY_STUDIO: 'theirs' };
    expect(readLocalAccounts(given, undefined, 'made').keys.SUME_API_KEY_STUDIO).toBe('theirs');
    expect(readLocalAccounts(given, sume, 'made').keys).toEqual({
      SUME_API_KEY: 'real',
      SUME_API_KEY_STUDIO: 'theirs',
    });
  });

  it('need a key from the environment at Sume', () => {
    const wrong = () => readLocalAccounts(studio, sume, 'made');
    expect(wrong).toThrow('SUME_API_KEY_STUDIO is missing: ACCOUNTS names it for the account studio.');
  });

  it('reach the functions with their keys and what else may be set for them, and nothing more', () => {
    const environment = { ...studio, PRICES: '[]', SPENDING_CAPS: '{"*":20}', ADAPTIVE_FIRST_READ: 'off', OTHER: 'x' };
    const parts = { redis: { url: 'http://r', token: 't' }, sume: { url: 'http://s' }, dynamo: 'http://d' };
    const accounts = readLocalAccounts(environment, undefined, 'made');
    const env = gatewayEnvironment(parts, accounts, '[]', 'table', environment);
    expect(env).toMatchObject({
      ACCOUNTS: studio.ACCOUNTS,
      SUME_API_KEY: 'made',
      SUME_API_KEY_STUDIO: accounts.keys.SUME_API_KEY_STUDIO,
      PRICES: '[]',
      SPENDING_CAPS: '{"*":20}',
      ADAPTIVE_FIRST_READ: 'off',
    });
    expect(env).not.toHaveProperty('OTHER');
  });
});

describe('the owners of the local stack', () => {
  it('are told by the digests of their tokens, with what each may do', () => {
    const keys = { apiToken: 'mine', redisToken: '', sumeKey: '' };
    const list = tokenList(keys, [{ owner: 'acme', token: 'theirs', scopes: ['read'] }]);
    const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
    expect(JSON.parse(list)).toEqual([
      { owner: 'demo', sha256: sha256('mine') },
      { owner: 'acme', sha256: sha256('theirs'), scopes: ['read'] },
    ]);
  });
});
