/** Recycles a volume by emptying it with a pod. Deprecated in Kubernetes, and still supported. */
import type { Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { volumesByClaim } from '../../../kinds/volumes/binding.ts';
import { create, event, type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { podsByClaim } from '../../shared/pods/pods-by-claim.ts';
import { unbind } from './bind.ts';
import { failed } from './phase.ts';
import { isDone, type Volume, type World } from './states.ts';

const NAMESPACE = 'default';
const PREFIX = 'recycler-for-';
const IMAGE = 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6';
const EMPTY = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1';
/** The deadline of the pod. */
const DEADLINE_SECONDS = 300;
/** Delay before checking again a volume that pods still use. */
const RETRY_MS = 15_000;

/** A volume that failed is not tried again: an administrator has to look at it. */
export function planRecycling(volume: Volume, world: World): Plan {
  if (volume.status.phase === 'Failed') return [];
  const { hostPath, nfs } = volume.spec;
  if (!hostPath && !nfs) return failed(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  const users = usersOf(volume, world);
  if (users.length > 0) {
    const message = `Volume is used by pods: ${users.join(',')}`;
    return [event(volume, 'Normal', 'VolumeFailedRecycle', message), requeueAfter(RETRY_MS)];
  }
  const pod = world.of(Pod).get(PREFIX + volume.metadata.name, NAMESPACE);
  if (!pod) return [create(Pod, recycler(volume))];
  if (pod.metadata.deletionTimestamp) return [];
  if (!pod.metadata.ownerReferences?.some(({ uid }) => uid === volume.metadata.uid)) return [remove(Pod, pod)];
  switch (pod.status.phase) {
    case 'Succeeded':
      return [...unbind(volume), remove(Pod, pod), event(volume, 'Normal', 'VolumeRecycled', 'Volume recycled')];
    case 'Failed': {
      const why = pod.status.message ?? 'pod failed, pod.Status.Message unknown';
      const message = `Recycle failed: failed to recycle volume: ${why}`;
      return [...failed(volume, 'VolumeFailedRecycle', message), remove(Pod, pod)];
    }
    default:
      return [];
  }
}

/** Returns the volume that a recycler pod empties; undefined for any other pod. */
export function recycledVolume({ metadata: { name, namespace } }: SeenPod): string | undefined {
  return namespace === NAMESPACE && name?.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}

/** A new claim of the same name has another volume: pods that use it do not use this one. */
function usersOf(volume: Volume, world: World): string[] {
  const { name = '', namespace } = volume.spec.claimRef ?? {};
  if (world.of(PersistentVolumeClaim).get(name, namespace)) return [];
  const [key = ''] = volumesByClaim(volume);
  const pods = world.of(Pod).by(podsByClaim, key);
  return pods.filter((pod) => !isDone(pod)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

function recycler({ metadata: { name, uid }, spec: { hostPath, nfs } }: Volume): Draft<Pod> {
  const owner = { apiVersion: 'v1', kind: 'PersistentVolume', name, uid };
  return {
    metadata: { name: PREFIX + name, namespace: NAMESPACE, ownerReferences: [owner] },
    spec: {
      activeDeadlineSeconds: DEADLINE_SECONDS,
      restartPolicy: 'Never',
      volumes: [{ name: 'vol', ...(hostPath ? { hostPath } : { nfs }) }],
      containers: [
        {
          name: 'pv-recycler',
          image: IMAGE,
          command: ['/bin/sh'],
          args: ['-c', EMPTY],
          volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
        },
      ],
    },
  } as Draft<Pod>;
}
