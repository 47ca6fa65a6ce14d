import { describe, expect, it } from 'vitest';
import { readRedisConfig, readSumeConfig } from '../../lib/config.ts';
import { withSecrets } from '../../lib/secrets.ts';

/** A parameter store that keeps note of what it was asked for. */
function store(values: Record<string, string>) {
  const asked: string[][] = [];
  const read = async (names: string[]) => {
    asked.push(names);
    return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name] ?? '']));
  };
  return { asked, read };
}

const parameters = {
  '/pollkeeper/dev/upstash-redis-rest-url': 'https://x.upstash.io',
  '/pollkeeper/dev/upstash-redis-rest-token': 'AXabcQ',
};

describe('secrets', () => {
  it('that are not plain variables are read in one call, under the prefix with or without a slash at its end', async () => {
    for (const prefix of ['/pollkeeper/dev', '/pollkeeper/dev/']) {
      const { asked, read } = store(parameters);
      const given = { SECRETS_PREFIX: prefix, STAGE: 'dev' };
      const filled = await withSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'], read);
      expect(asked).toEqual([Object.keys(parameters)]);
      expect(readRedisConfig(filled)).toEqual({ url: 'https://x.upstash.io', token: 'AXabcQ' });
      expect([filled.STAGE, Object.keys(given)]).toEqual(['dev', ['SECRETS_PREFIX', 'STAGE']]);
    }
  });

  it('that are plain variables stay, and only the others are asked for', async () => {
    const { asked, read } = store(parameters);
    const given = { SECRETS_PREFIX: '/pollkeeper/dev', UPSTASH_REDIS_REST_TOKEN: 'plain', UPSTASH_REDIS_REST_URL: '' };
    const filled = await withSecrets(given, ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'], read);
    expect(asked).toEqual([['/pollkeeper/dev/upstash-redis-rest-url']]);
    expect(readRedisConfig(filled)).toEqual({ url: 'https://x.upstash.io', token: 'plain' });
  });

  it('are not asked for without a prefix, nor when none is missing', async () => {
    const { asked, read } = store(parameters);
    for (const given of [
      {},
      { SECRETS_PREFIX: '' },
      { SECRETS_PREFIX: '/' },
      { SECRETS_PREFIX: '/p', SUME_API_KEY: 'k' },
    ]) {
      expect(await withSecrets(given, ['SUME_API_KEY'], read)).toEqual(given);
    }
    expect(await withSecrets({ SECRETS_PREFIX: '/p' }, [], read)).toEqual({ SECRETS_PREFIX: '/p' });
    expect(asked).toEqual([]);
  });

  it('that are in neither place are named by the setting that needs them, with where to put them', async () => {
    const { read } = store({});
    const filled = await withSecrets({ SECRETS_PREFIX: '/pollkeeper/dev' }, ['SUME_API_KEY'], read);
    expect(() => readSumeConfig(filled)).toThrow(/SUME_API_KEY is missing.*SECRETS_PREFIX.*sume-api-key/);
  });

  it('that can’t be read fail the start with the store’s own error', async () => {
    const refused = withSecrets({ SECRETS_PREFIX: '/p' }, ['SUME_API_KEY'], () =>
      Promise.reject(new Error('AccessDenied')),
    );
    await expect(refused).rejects.toThrow('AccessDenied');
  });
});
