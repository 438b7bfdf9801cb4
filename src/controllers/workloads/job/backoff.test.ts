import { describe, expect, it } from 'vitest';
import { FailureMemory, waitAfter } from './backoff.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const job = { metadata: { uid: 'job' }, spec: {}, status: {} } as any;
const ended = (uid: string, phase: string, second: number) =>
  ({
    metadata: { uid, finalizers: ['batch.kubernetes.io/job-tracking'] },
    spec: {},
    status: {
      phase,
      containerStatuses: [{ state: { terminated: { finishedAt: new Date(now + second * 1000).toISOString() } } }],
    },
  }) as any;

it('the back-off after failures doubles from ten seconds to ten minutes', () => {
  const waits = [0, 1, 2, 3, 6, 7, 8, 40].map((count) => waitAfter({ count, last: now }, now) / 1000);
  expect(waits).toEqual([0, 10, 20, 40, 320, 600, 600, 600]);
});

it('the back-off after failures passes with time', () => {
  expect(waitAfter({ count: 1, last: now }, now + 4000)).toBe(6000);
  expect(waitAfter({ count: 1, last: now }, now + 40_000)).toBe(0);
});

describe('the memory of failures', () => {
  it('includes those of deleted pods', () => {
    const memory = new FailureMemory();
    memory.note('x/work', job, [ended('a', 'Failed', 1)]);
    expect(memory.note('x/work', job, [ended('b', 'Failed', 5)])).toEqual({ count: 2, last: now + 5000 });
    expect(memory.note('x/work', job, [])).toEqual({ count: 2, last: now + 5000 });
  });

  it('ends with a success', () => {
    const memory = new FailureMemory();
    memory.note('x/work', job, [ended('a', 'Failed', 1)]);
    expect(memory.note('x/work', job, [ended('b', 'Succeeded', 2)]).count).toBe(0);
    expect(memory.note('x/work', job, [ended('a', 'Failed', 1), ended('c', 'Failed', 3)])).toEqual({
      count: 1,
      last: now + 3000,
    });
  });

  it('is separate for another Job of the same name, and empty after it was forgotten', () => {
    const memory = new FailureMemory();
    memory.note('x/work', job, [ended('a', 'Failed', 1)]);
    expect(memory.note('x/work', { ...job, metadata: { uid: 'next' } }, []).count).toBe(0);
    memory.note('x/work', job, [ended('a', 'Failed', 1)]);
    memory.forget('x/work');
    expect(memory.note('x/work', job, []).count).toBe(0);
  });

  it('excludes pods that the controller itself deleted', () => {
    const memory = new FailureMemory();
    const pod = ended('a', 'Failed', 1);
    const gone = { ...pod, metadata: { uid: 'a', deletionTimestamp: '2030-01-01T00:00:00Z' } };
    expect(memory.note('x/work', job, [gone]).count).toBe(0);
  });
});
