import { expect, it } from 'vitest';
import { clusterStatus } from './cluster-status.ts';

const at = (seconds: number) => Date.parse('2030-01-01T00:00:00Z') + seconds * 1000;
const node = (labels: object) => ({ metadata: { labels } }) as any;
const NODES = [
  node({ 'topology.kubernetes.io/zone': 'b', 'topology.kubernetes.io/region': 'r1' }),
  node({ 'failure-domain.beta.kubernetes.io/zone': 'a' }),
  node({}),
];

it('a cluster that answers is ready, with the zones and the region of its nodes', () => {
  const status = clusterStatus({}, { nodes: NODES }, at(0));
  expect(status).toMatchObject({ zones: ['a', 'b'], region: 'r1' });
  expect(status.conditions?.map(({ type, status: holds }) => `${type}=${holds}`)).toEqual([
    'Ready=True',
    'Offline=False',
  ]);
});

it('a cluster that does not answer is offline, since the first failure, and keeps its zones', () => {
  const ready = clusterStatus({}, { nodes: NODES }, at(0));
  const offline = clusterStatus(ready, { error: new Error('connect ECONNREFUSED') }, at(10));
  expect(offline).toMatchObject({
    zones: ['a', 'b'],
    conditions: [
      { type: 'Ready', status: 'False', message: 'connect ECONNREFUSED', lastTransitionTime: '2030-01-01T00:00:10Z' },
      { type: 'Offline', status: 'True' },
    ],
  });
  const later = clusterStatus(offline, { error: new Error('connect ETIMEDOUT') }, at(20));
  expect(later.conditions?.[0]).toMatchObject({
    ...{ message: 'connect ETIMEDOUT', lastProbeTime: '2030-01-01T00:00:20Z' },
    lastTransitionTime: '2030-01-01T00:00:10Z',
  });
});

it('the status is the same object when nothing has changed', () => {
  const ready = clusterStatus({}, { nodes: NODES }, at(0));
  expect(clusterStatus(ready, { nodes: NODES }, at(60))).toBe(ready);
});
