import { describe, expect, it } from 'vitest';
import { useAccountApi } from '../support/account-api.ts';

/* Which account a job is placed in, over HTTP. */

const api = useAccountApi();
const clip = { input: { model: 'seedance-2-mini', prompt: 'a lighthouse', duration: 8, resolution: '720p' } };

const submit = (owner: string, key: string, fields: object = {}) =>
  api.call('POST', '/v1/jobs', owner, JSON.stringify({ ...clip, ...fields }), { 'Idempotency-Key': key });

describe('a submitted job', () => {
  it('goes to the account that it names, and its drain is woken', async () => {
    const { status, body } = await submit('globex', 'one', { account: 'own' });
    expect({ status, account: body.account, woken: api.woken }).toEqual({
      status: 202,
      account: 'own',
      woken: ['own'],
    });
    expect(await api.upstash.direct('ZCARD', 'pk:{test}:waiting:own')).toBe(1);
  });

  it('that names none goes to the one of its owner’s with the fewest jobs', async () => {
    await submit('acme', 'one', { account: 'studio' });
    await submit('acme', 'two', { account: 'studio' });
    await submit('acme', 'three', { account: 'open' });
    expect((await submit('acme', 'four')).body.account).toBe('open');
    expect((await submit('other', 'five')).body.account).toBe('open');
  });

  it('is refused with one and the same 403 for an account that is another owner’s and for one that does not exist', async () => {
    const theirs = await submit('acme', 'one', { account: 'own' });
    const nowhere = await submit('acme', 'one', { account: 'nowhere' });
    expect(theirs.body).toEqual(nowhere.body);
    expect(theirs).toMatchObject({ status: 403, body: { code: 'account_not_allowed', field: 'account' } });
    expect(JSON.stringify(theirs.body)).not.toMatch(/globex|own"|studio/);
    expect((await api.call('GET', '/v1/jobs', 'acme')).body.jobs).toEqual([]);
  });

  it('stays where it was placed when it is sent again, and conflicts when that names another account', async () => {
    const first = await submit('globex', 'one', { account: 'own' });
    expect((await submit('globex', 'one', { account: 'own' })).body.id).toBe(first.body.id);
    expect((await submit('globex', 'one', { account: 'studio' })).status).toBe(422);
  });

  it.each([-1, 10, 2.5, '5'])('with the priority %j is refused', async (priority) => {
    expect(await submit('acme', 'one', { priority })).toMatchObject({ status: 400, body: { field: 'priority' } });
  });
});
