import { describe, expect, it } from 'vitest';
import { readAccounts } from '../../lib/accounts.ts';
import { hookSecretVariable, hookUrlFor, readHookConfig, wantedHookSecrets } from '../../lib/hooks/hook-config.ts';
import { jobWith } from '../support/jobs.ts';

const accounts = readAccounts(
  JSON.stringify([
    { id: 'sume' },
    { id: 'studio', secret: 'sume-api-key-studio-2' },
    { id: 'quiet', secret: 'sume-api-key-q' },
  ]),
);
const on = {
  PUBLIC_URL: 'https://api.example.com',
  SUME_WEBHOOK_SECRET: 'whsec-one-1',
  SUME_WEBHOOK_SECRET_STUDIO_2: 'new-secret, old-secret',
};

describe('hooks of the provider', () => {
  it('are on for the accounts whose signing secret is there, once it is known where we are', () => {
    const config = readHookConfig(on, accounts);
    expect(config).toEqual({
      publicUrl: 'https://api.example.com',
      secrets: new Map([
        ['sume', ['whsec-one-1']],
        ['studio', ['new-secret', 'old-secret']],
      ]),
    });
    expect(accounts.map(hookSecretVariable)).toEqual(wantedHookSecrets(on, accounts));
    expect(wantedHookSecrets({}, accounts)).toEqual([]);
    expect(readHookConfig({ ...on, PUBLIC_URL: ' ' }, accounts)).toBeNull();
    expect(readHookConfig({ PUBLIC_URL: on.PUBLIC_URL }, accounts)).toBeNull();
    expect(readHookConfig({ ...on, PUBLIC_URL: 'https://api.example.com/' }, accounts)?.publicUrl).toBe(on.PUBLIC_URL);
    const local = { ...on, PUBLIC_URL: 'http://127.0.0.1:3000', DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' };
    expect(readHookConfig(local, accounts)?.publicUrl).toBe('http://127.0.0.1:3000');
  });

  it.each([
    ['http://api.example.com', 'plain'],
    ['https://api.example.com/prod', 'with a path'],
    ['https://api.example.com?x=1', 'with a query'],
    ['https://user:pw@api.example.com', 'with a password'],
    ['ftp://api.example.com', 'of another kind'],
    ['api.example.com', 'without a scheme'],
  ])('are not switched on by %s: %s', (PUBLIC_URL) => {
    expect(() => readHookConfig({ ...on, PUBLIC_URL }, accounts)).toThrow(/^PUBLIC_URL must be the https origin/);
  });

  it.each([['short'], ['one-secret two-secret three-secret'], ['sëcret-one']])(
    'never repeat a secret that can’t be: %s',
    (secret) => {
      const read = () => readHookConfig({ ...on, SUME_WEBHOOK_SECRET: secret }, accounts);
      expect(read).toThrow(/^SUME_WEBHOOK_SECRET must be/);
      expect(read).not.toThrow(secret);
    },
  );

  it('are asked for unless the account has none, the caller has an address of their own, or somebody else made the job', () => {
    const config = readHookConfig(on, accounts);
    const job = jobWith();
    expect(hookUrlFor(config, job)).toBe(`https://api.example.com/v1/hooks/sume?job=${job.id}`);
    expect(hookUrlFor(null, job)).toBeUndefined();
    expect(hookUrlFor(config, { ...job, account: 'quiet' })).toBeUndefined();
    expect(hookUrlFor(config, { ...job, adopted: true })).toBeUndefined();
    for (const webhook_url of ['https://mine.example', null]) {
      expect(hookUrlFor(config, { ...job, input: { ...job.input, webhook_url } })).toBeUndefined();
    }
  });
});
