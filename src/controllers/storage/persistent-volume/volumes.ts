/** Plans for one volume. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { PROVISIONED_BY, volumesByClaim } from '../../../kinds/volumes/binding.ts';
import { hasMode } from '../../../kinds/volumes/matching.ts';
import { create, event, type Plan, remove, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { podsByClaim } from '../../shared/pods/pod-indexes.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { type Claim, unbind, type Volume, type World } from './bind.ts';

export function planVolume(volume: Volume | undefined, world: World): Plan {
  if (!volume) return [];
  const { claimRef } = volume.spec;
  // Reserved for a claim that is not bound to it: available.
  if (!claimRef?.uid) return inPhase(volume, 'Available');
  const claim = holderOf(volume, world);
  if (!claim) return left(volume, world);
  if (!claim.spec.volumeName) return awaited(volume, claim);
  if (claim.spec.volumeName === volume.metadata.name) return inPhase(volume, 'Bound');
  // Its claim has another volume.
  const isSpare = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (isSpare && volume.spec.persistentVolumeReclaimPolicy === 'Delete') return left(volume, world);
  return unbind(volume);
}

function holderOf({ spec: { claimRef } }: Volume, { of, observed }: World): Claim | undefined {
  const found = of(PersistentVolumeClaim).get(claimRef?.name ?? '', claimRef?.namespace);
  return [found, observed?.claim].find((claim) => claim !== undefined && claim.metadata.uid === claimRef?.uid);
}

function left(volume: Volume, world: World): Plan {
  const { phase } = volume.status;
  // A failure stays visible while it is retried.
  return phase === 'Released' || phase === 'Failed' ? reclaim(volume, world) : inPhase(volume, 'Released');
}

/** The claim does not refer to the volume yet. */
function awaited(volume: Volume, claim: Claim): Plan {
  if (hasMode(volume, claim)) return [];
  const why = 'due to incompatible volumeMode.';
  const { name } = volume.metadata;
  const ofVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" ${why}`;
  const ofClaim = `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`;
  return [event(volume, 'Warning', 'VolumeMismatch', ofVolume), event(claim, 'Warning', 'VolumeMismatch', ofClaim)];
}

function reclaim(volume: Volume, world: World): Plan {
  const { persistentVolumeReclaimPolicy: policy } = volume.spec;
  switch (policy) {
    case 'Retain':
      return [];
    case 'Delete':
      return planDeletion(volume);
    case 'Recycle':
      return planRecycling(volume, world);
    default:
      return failed(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
}

/** Deletes a released volume, unless its provisioner does. Of those created by hand, only one type can be deleted. */
function planDeletion(volume: Volume): Plan {
  if (volume.metadata.deletionTimestamp) return [];
  const { name } = volume.metadata;
  const { csi, hostPath } = volume.spec;
  const maker = volume.metadata.annotations?.[PROVISIONED_BY];
  if (maker?.startsWith('kubernetes.io/')) {
    return failed(volume, 'VolumeFailedDelete', `no volume plugin matched name: ${maker}`);
  }
  if (maker || csi) return [];
  if (!hostPath) {
    const message = `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`;
    return failed(volume, 'VolumeFailedDelete', message);
  }
  if (/\/tmp\/.+/.test(hostPath.path)) return [remove(PersistentVolume, volume)];
  const message = `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`;
  return failed(volume, 'VolumeFailedDelete', message);
}

const NAMESPACE = 'default';
const PREFIX = 'recycler-for-';
const IMAGE = 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6';
const EMPTY = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1';
const DEADLINE_SECONDS = 300;
/** Delay before checking again a volume that pods still use. */
const RETRY_MS = 15_000;

/** A volume that failed is not tried again: an administrator has to look at it. */
function planRecycling(volume: Volume, world: World): Plan {
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
  return pods.filter((pod) => !isTerminal(pod)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
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

type Phase = 'Available' | 'Bound' | 'Released' | 'Failed';

function inPhase(volume: Volume, phase: Phase, message?: string): Plan {
  if (volume.status.phase === phase) return [];
  const { message: _, ...rest } = volume.status;
  const status = { ...rest, phase, ...(message === undefined ? {} : { message }) };
  return [updateStatus(PersistentVolume, { ...volume, status } as Draft<PersistentVolume>)];
}

/** Records the failure, once. */
function failed(volume: Volume, reason: string, message: string): Plan {
  const written = inPhase(volume, 'Failed', message);
  return written.length === 0 ? [] : [...written, event(volume, 'Warning', reason, message)];
}
