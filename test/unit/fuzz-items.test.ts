import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jobView } from '../../lib/http/job-view.ts';
import { jobStates } from '../../lib/job.ts';
import type { Item } from '../../lib/job-store/item-fields.ts';
import { fromItem } from '../../lib/job-store/job-item.ts';
import { testNowMs } from '../support/dynamo.ts';
import { storedItems } from '../support/stored-items.ts';

const counts = ['failuresInRow', 'missingReads', 'resultReads', 'revision'] as const;
const times = ['createdAtMs', 'updatedAtMs', 'deadlineAtMs'] as const;

test('any item is a job of the right shape that can be shown, or says why not', () => {
  let read = 0;
  let broken = 0;
  fc.assert(
    fc.property(storedItems(testNowMs), (item) => {
      const before = structuredClone(item);
      const found = fromItem(item as Item);
      expect(item).toEqual(before);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      if ('broken' in found) {
        broken++;
        expect(found.broken).toMatch(/^(attribute|state|provider) .{1,150}$/s);
        return;
      }
      read++;
      const { job } = found;
      expect(jobStates).toContain(job.state);
      expect(job.provider).toBe('sume');
      for (const count of counts) expect(Number.isSafeInteger(job[count]) && job[count] >= 0, count).toBe(true);
      for (const time of times) expect(Math.abs(job[time])).toBeLessThanOrEqual(8.64e15);
      expect(() => jobView(job)).not.toThrow();
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(read, broken)).toBeGreaterThan(300);
});
