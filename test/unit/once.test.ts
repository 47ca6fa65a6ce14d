import { describe, expect, it } from 'vitest';
import { oncePerProcess } from '../../lib/once.ts';

describe('what is made once per process', () => {
  it('is made at the first call, not before, and shared by calls that come while it is being made', async () => {
    let made = 0;
    const get = oncePerProcess(async () => ({ number: ++made }));
    expect(made).toBe(0);
    const [first, second] = await Promise.all([get(), get()]);
    expect([first, second, await get()]).toEqual([{ number: 1 }, { number: 1 }, { number: 1 }]);
    expect(first).toBe(second);
  });

  it('is made anew after a failure, which every waiting caller gets', async () => {
    let tries = 0;
    const get = oncePerProcess(async () => {
      if (++tries === 1) throw new Error('no parameter store');
      return tries;
    });
    const failed = await Promise.allSettled([get(), get()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([await get(), await get(), tries]).toEqual([2, 2, 2]);
  });
});
