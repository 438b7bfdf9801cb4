import { expect, it } from 'vitest';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import { countedIndexes } from './indexes.ts';

it('reads the indexes of a status once, and again for another number of completions', () => {
  let read = 0;
  const status = {
    get completedIndexes() {
      read++;
      return '0-3,7';
    },
  };
  const job = (completions: number) => ({ spec: { completions }, status }) as unknown as Job;
  expect([countedIndexes(job(10)), countedIndexes(job(10))].map(({ completed }) => String(completed))).toEqual([
    '0-3,7',
    '0-3,7',
  ]);
  expect(read).toBe(1);
  expect(String(countedIndexes(job(5)).completed)).toBe('0-3');
});
