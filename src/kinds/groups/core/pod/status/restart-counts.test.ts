import { expect, test } from 'vitest';
import { podState } from './pod-state.ts';
import { restartAnnotations, shownRestarts, trueRestarts } from './restart-counts.ts';

test('a status counts to five, and the annotation beyond', () => {
  expect([3, 5, 12].map(shownRestarts)).toEqual([3, 5, 5]);
  const annotations = restartAnnotations([
    ['a', 3],
    ['b', 12],
  ]);
  expect(annotations).toEqual({ 'kubernetes.io/restart-counts': '{"b":12}' });
  const statuses = [
    { name: 'a', restartCount: 3 },
    { name: 'b', restartCount: 5 },
  ];
  expect(trueRestarts(annotations, statuses)).toEqual([3, 12]);
  expect(restartAnnotations([['a', 5]])).toBeUndefined();
});

test.each(['', 'x', '[]', '{"b":"many"}', '{"b":-3}', 'null'])('an annotation %j counts for nothing', (text) => {
  expect(trueRestarts({ 'kubernetes.io/restart-counts': text }, [{ name: 'b', restartCount: 5 }])).toEqual([5]);
});

test('people see the true number', () => {
  const pod = {
    metadata: { annotations: { 'kubernetes.io/restart-counts': '{"b":12}' } },
    spec: { containers: [{ name: 'b' }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'b', ready: true, restartCount: 5, state: { running: {} } }],
    },
  };
  expect(podState(pod).restarts).toBe(12);
});
