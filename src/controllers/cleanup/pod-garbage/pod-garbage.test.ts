import { expect, it } from 'vitest';
import { deletedIn, PlannerWorld, typesIn as types } from '../../../../test/support/planner-world.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { planEndedPods, planStuckPod } from './pod-garbage.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const key = { namespace: 'x', name: 'p' };
const pod = (name: string, { status = {}, spec = {}, ...metadata }: any = {}) => ({
  metadata: { name, namespace: 'x', ...metadata },
  spec,
  status,
});

it('pods that have ended are kept up to a limit; then evicted ones and the oldest are deleted', () => {
  const world = new PlannerWorld();
  const put = (name: string, day: number, status: object) =>
    world.put(Pod, pod(name, { status, creationTimestamp: `2030-01-0${day}T00:00:00Z` }));
  put('old', 1, { phase: 'Succeeded' });
  put('new', 3, { phase: 'Failed' });
  put('evicted', 4, { phase: 'Failed', reason: 'Evicted' });
  put('running', 1, { phase: 'Running' });
  expect(planEndedPods(world, 3)).toEqual([]);
  const names = deletedIn(planEndedPods(world, 1));
  expect(names).toEqual(['evicted', 'old']);
});

const asked = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };

it('a pod that is being deleted is marked as failed and deleted at once when it has no node', () => {
  const world = new PlannerWorld();
  world.put(Pod, pod('p', { ...asked, status: { phase: 'Pending' } }));
  const plan = planStuckPod(undefined, { key, of: (kind) => world.of(kind) }, NOW);
  expect(types(plan)).toEqual(['patch', 'delete']);
  expect(plan[0]).toMatchObject({ subresource: 'status', patch: { changes: { status: { phase: 'Failed' } } } });
  expect(plan[1]).toMatchObject({ options: { gracePeriodSeconds: 0 } });
});

it.each([
  ['on a node that is well', 'True', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }], []],
  ['on a node that may come back', 'Unknown', [], []],
  [
    'on a node that was given up',
    'Unknown',
    [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }],
    ['patch', 'delete'],
  ],
])('a pod that is being deleted %s', (_, ready, taints, expected) => {
  const world = new PlannerWorld();
  world.put(Node, {
    metadata: { name: 'n' },
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });
  world.put(Pod, pod('p', { ...asked, spec: { nodeName: 'n' }, status: { phase: 'Running' } }));
  expect(types(planStuckPod(undefined, { key, of: (kind) => world.of(kind) }, NOW))).toEqual(expected);
});
