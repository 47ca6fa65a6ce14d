import { describe, expect, it } from 'vitest';
import { type Account, accountsOf, noLimits, readAccounts } from '../../lib/accounts.ts';
import { ConfigError } from '../../lib/errors.ts';

const account = (given: Partial<Account>): Account => ({
  ...{ id: 'a', keyVariable: 'SUME_API_KEY', owners: null, operators: null, weight: 1, limits: noLimits },
  ...given,
});

describe('ACCOUNTS', () => {
  it('that is not set means one account for everybody', () => {
    const only = [
      { id: 'sume', keyVariable: 'SUME_API_KEY', owners: null, operators: null, weight: 1, limits: noLimits },
    ];
    expect([readAccounts(undefined), readAccounts(' ')]).toEqual([only, only]);
  });

  it('lists accounts, each with what it leaves out', () => {
    const studio = { id: 'studio', secret: 'sume-api-key-studio', owners: ['acme'], operators: ['ops'], weight: 2.5 };
    const ofSume = {
      maxInFlight: 24,
      readsPerMinute: 120,
      readsPerDay: 10_000,
      createsPerMinute: 10,
      createsPerDay: 300,
    };
    const text = JSON.stringify([{ ...studio, readsPerDay: 20_000, createsPerDay: null }, { id: 'b-2' }]);
    expect(readAccounts(text)).toEqual([
      {
        ...{ id: 'studio', keyVariable: 'SUME_API_KEY_STUDIO', owners: ['acme'], operators: ['ops'], weight: 2.5 },
        limits: { ...ofSume, readsPerDay: 20_000, createsPerDay: null },
      },
      { id: 'b-2', keyVariable: 'SUME_API_KEY', owners: null, operators: null, weight: 1, limits: ofSume },
    ]);
  });

  it.each([
    ['no JSON', '{', /not JSON/],
    ['no list', '{}', /not a list/],
    ['an empty list', '[]', /at least one/],
    ['an entry that is none', '[1]', /entry 1: id/],
    ['a bad id', '[{"id":"A b"}]', /entry 1 \(A b\): id/],
    ['a limit of 0', '[{"id":"a","readsPerMinute":0}]', /entry 1 \(a\): readsPerMinute/],
    ['a negative limit', '[{"id":"a","maxInFlight":-1}]', /entry 1 \(a\): maxInFlight/],
    ['a limit that is no number', '[{"id":"a","createsPerDay":"9"}]', /entry 1 \(a\): createsPerDay/],
    ['operators that are none', '[{"id":"a","operators":[]}]', /entry 1 \(a\): operators/],
    ['two with one id', '[{"id":"a"},{"id":"b","secret":"sume-api-key-b"},{"id":"a"}]', /1 and 3, with the id a/],
    ['two with one secret', '[{"id":"a"},{"id":"b"}]', /1 and 2, with one secret/],
    ['another provider', '[{"id":"a","provider":"x"}]', /provider must be "sume"/],
    ['a key itself', '[{"id":"a","secret":"sk_live_123"}]', /secret must be the name/],
    ['no owner', '[{"id":"a","owners":[]}]', /owners/],
    ['an owner that is none', '[{"id":"a","owners":["a b"]}]', /owners/],
    ['a weight of 0', '[{"id":"a","weight":0}]', /weight/],
    ['a field too many', '[{"id":"a","slots":3}]', /slots must be left out/],
  ])('with %s is refused by a line that names the entry and gives an example', (_, text, message) => {
    expect(() => readAccounts(text)).toThrow(ConfigError);
    expect(() => readAccounts(text)).toThrow(message);
    expect(() => readAccounts(text)).toThrow(/expected \[|with the id|with one secret/);
    expect(() => readAccounts(text)).not.toThrow(/sk_live/);
  });
});

describe('placing', () => {
  const studio = account({ id: 'studio', owners: ['acme'] });
  const shared = account({ id: 'shared' });

  it('an owner’s accounts are those that name it, and those for everybody', () => {
    expect(accountsOf('acme', [studio, shared])).toEqual([studio, shared]);
    expect(accountsOf('other', [studio, shared])).toEqual([shared]);
  });
});
