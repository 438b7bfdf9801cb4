import { expect, it } from 'vitest';
import { planTtl } from './ttl-after-finished.ts';

const finished = '2030-01-01T00:00:00Z';
const later = (seconds: number) => new Date(Date.parse(finished) + seconds * 1000);
const job = ({ ttl, type = 'Complete', metadata = {} }: { ttl?: number; type?: string; metadata?: object }) =>
  ({
    metadata: { name: 'work', namespace: 'x', uid: 'u', resourceVersion: '7', ...metadata },
    spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
    status: { conditions: [{ type, status: 'True', lastTransitionTime: finished }] },
  }) as any;

it('planTtl waits exactly for the TTL', () => {
  expect(planTtl(job({ ttl: 60 }), later(45))).toEqual([{ type: 'requeueAfter', milliseconds: 15_000 }]);
});

it.each(['Complete', 'Failed'])('planTtl deletes a job that is %s, with its pods, and only as it is known', (type) => {
  expect(planTtl(job({ ttl: 60, type }), later(60))).toMatchObject([
    {
      type: 'delete',
      options: { propagationPolicy: 'Foreground', preconditions: { uid: 'u', resourceVersion: '7' } },
    },
  ]);
  expect(planTtl(job({ ttl: 0, type }), later(0))).toHaveLength(1);
});

it('planTtl ignores all others', () => {
  const deletionTimestamp = finished;
  const others = [
    undefined,
    job({}),
    job({ ttl: 0, type: 'FailureTarget' }),
    job({ ttl: 0, metadata: { deletionTimestamp } }),
  ];
  expect(others.map((each) => planTtl(each, later(1000)))).toEqual([[], [], [], []]);
});
