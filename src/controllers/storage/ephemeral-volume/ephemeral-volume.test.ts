import { expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { planPod } from './ephemeral-volume.ts';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const template = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec };
const pod = (metadata: object = {}): any => ({
  metadata: { name: 'web', namespace: 'x', uid: 'u', ...metadata },
  spec: {
    volumes: [
      { name: 'tmp', ephemeral: { volumeClaimTemplate: template } },
      { name: 'other', emptyDir: {} },
    ],
  },
});

it('a pod gets the claim of its ephemeral volume, once', () => {
  const world = new PlannerWorld();
  world.apply(planPod(pod(), world));
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true };
  expect(world.of(PersistentVolumeClaim).get('web-tmp', 'x')).toMatchObject({
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [owner] },
    spec,
  });
  expect(planPod(pod(), world)).toEqual([]);
});

it('a pod that is being deleted gets none', () => {
  expect(planPod(pod({ deletionTimestamp: '2030-01-01T00:00:00Z' }), new PlannerWorld())).toEqual([]);
});

it('an existing claim of that name with another owner is not used', () => {
  const world = new PlannerWorld();
  world.put(PersistentVolumeClaim, { metadata: { name: 'web-tmp', namespace: 'x' }, spec });
  const why = 'PVC x/web-tmp was not created for pod x/web (pod is not owner)';
  expect(planPod(pod(), world)).toMatchObject([
    { type: 'event', reason: 'FailedBinding', message: `ephemeral volume tmp: ${why}` },
  ]);
});
