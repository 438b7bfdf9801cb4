/** Creates the claims of ephemeral volumes, which belong to one pod each and are deleted with it by owner reference. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { type Action, create, event, eventContent, type Plan } from '../../loop/plan.ts';
import { ownClaim, podsByClaim } from '../../shared/pods/pod-indexes.ts';

type Ephemeral = NonNullable<NonNullable<SeenPod['spec']['volumes']>[number]['ephemeral']>;

export const ephemeralVolumeController: Controller = defineController({
  name: 'ephemeral-volume',
  account: 'ephemeral-volume-controller',
  component: 'ephemeral_volume',
  also: [
    // The volumes of a pod never change.
    related(Pod, keysOfPod, () => true),
    related(PersistentVolumeClaim, keysOfClaim, () => true),
  ],
  plan: (_, { key, of }) => planPod(of(Pod).get(key.name, key.namespace), { of }),
});

const hasOwn = ({ spec }: SeenPod) => spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false;

function keysOfPod(pod: SeenPod): readonly string[] {
  return hasOwn(pod) ? [`${pod.metadata.namespace}/${pod.metadata.name}`] : [];
}

/** Wakes the pods of a claim, so that they get another one when it is deleted. */
function keysOfClaim({ metadata }: DeepReadonly<PersistentVolumeClaim>, { of }: Listers): readonly string[] {
  return of(Pod).by(podsByClaim, `${metadata.namespace}/${metadata.name}`).flatMap(keysOfPod);
}

export function planPod(pod: SeenPod | undefined, { of }: Listers): Plan {
  if (!pod || pod.metadata.deletionTimestamp) return [];
  const plan: Action[] = [];
  for (const { name, ephemeral } of pod.spec.volumes ?? []) {
    if (!ephemeral) continue;
    const claimName = ownClaim(pod.metadata.name, name);
    const claim = of(PersistentVolumeClaim).get(claimName, pod.metadata.namespace);
    if (!claim) plan.push(makeClaim(pod, { name, claimName, ephemeral }));
    else if (!isOwner(pod, claim)) plan.push(event(pod, 'Warning', 'FailedBinding', notOwner(pod, name, claimName)));
  }
  return plan;
}

function isOwner({ metadata: { uid } }: SeenPod, { metadata }: DeepReadonly<PersistentVolumeClaim>): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false;
}

function notOwner({ metadata: { namespace, name } }: SeenPod, volume: string, claim: string): string {
  const why = `PVC ${namespace}/${claim} was not created for pod ${namespace}/${name} (pod is not owner)`;
  return `ephemeral volume ${volume}: ${why}`;
}

interface EphemeralVolume {
  readonly name: string;
  readonly claimName: string;
  readonly ephemeral: Ephemeral;
}

function makeClaim(pod: SeenPod, { name, claimName, ephemeral }: EphemeralVolume): Action {
  const { namespace, name: podName, uid } = pod.metadata;
  const { metadata: { labels, annotations } = {}, spec } = ephemeral.volumeClaimTemplate ?? {};
  const owner = { apiVersion: 'v1', kind: 'Pod', name: podName, uid, controller: true, blockOwnerDeletion: true };
  const claim = { metadata: { name: claimName, namespace, labels, annotations, ownerReferences: [owner] }, spec };
  return create(PersistentVolumeClaim, claim as Draft<PersistentVolumeClaim>, {
    about: pod,
    failed: ({ message }) =>
      eventContent('Warning', 'FailedBinding', `ephemeral volume ${name}: create PVC ${claimName}: ${message}`),
  });
}
