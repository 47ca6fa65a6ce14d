import { expect, it } from 'vitest';
import { type CurrentTokens, currentTokens } from '../../lib/current-tokens.ts';
import type { Log } from '../../lib/log.ts';
import type { TokenEntry } from '../../lib/tokens.ts';
import { startMs } from '../support/jobs.ts';

/** A list that the test changes, or breaks; `reads` counts, `takesMs` passes with each. */
function setUp() {
  const at = { nowMs: startMs, reads: 0, takesMs: 0, owners: ['acme'], broken: null as Error | null };
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const read = async (): Promise<TokenEntry[]> => {
    at.reads++;
    const { owners } = at;
    await Promise.resolve();
    at.nowMs += at.takesMs;
    if (at.broken !== null) throw at.broken;
    return owners.map((owner) => ({ owner, sha256: 'ab', scopes: ['read'] }));
  };
  const tokens = currentTokens(read, { clock: { nowMs: () => at.nowMs }, log });
  return { at, logged, owners: async () => (await ask(tokens))?.join() ?? null };
}

async function ask(tokens: CurrentTokens): Promise<string[] | undefined> {
  return (await tokens())?.map(({ owner }) => owner);
}

it('the list is read once for all who ask, and again when it is a minute old, from the moment its read began', async () => {
  const { at, owners } = setUp();
  at.takesMs = 500;
  expect(await Promise.all(Array.from({ length: 50 }, owners))).toEqual(Array(50).fill('acme'));
  at.takesMs = 0;
  at.owners = ['bolt'];
  at.nowMs = startMs + 59_999;
  expect([await owners(), at.reads]).toEqual(['acme', 1]);
  at.nowMs = startMs + 60_000;
  expect([await owners(), at.reads]).toEqual(['bolt', 2]);
});

it('a list that can not be read again lets nobody in, is asked for every two seconds, and is back when it can be read', async () => {
  const { at, logged, owners } = setUp();
  expect(await owners()).toBe('acme');
  at.broken = new Error('SSM is away');
  at.nowMs += 60_000;
  for (let i = 0; i < 20; i++) expect(await owners()).toBeNull();
  expect([at.reads, logged]).toEqual([2, ['tokens_unavailable']]);
  at.nowMs += 2_000;
  expect([await owners(), at.reads]).toEqual([null, 3]);
  at.broken = null;
  at.nowMs += 2_000;
  expect(await owners()).toBe('acme');
});

it('a clock that steps back keeps no list for longer', async () => {
  const { at, owners } = setUp();
  await owners();
  at.nowMs -= 3_600_000;
  at.owners = ['bolt'];
  expect(await owners()).toBe('bolt');
});
