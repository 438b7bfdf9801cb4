/** Disks that only one node can use at a time, and claims that only one pod can use at a time. */
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import type { Pod } from '../../objects.ts';
import { ownClaim } from './volume-matching.ts';

const DISK = rejection('node(s) had no available disk', true);
const CLAIM = rejection(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  true,
);

type Disk = NonNullable<Pod['spec']['volumes']>[number];

/** Disks of a pod by their keys; true when all uses of one only read. */
type Disks = ReadonlyMap<string, boolean>;

export const volumeRestrictions: Plugin<{ readonly disks: Disks; readonly isClaimInUse: boolean }> = {
  name: 'VolumeRestrictions',
  dependsOnPods: true,
  preFilter(pod, world) {
    const { volumes } = pod.pod.spec;
    if (!volumes?.length) return SKIP;
    const disks = disksOf(volumes);
    for (const { persistentVolumeClaim } of volumes) {
      const name = persistentVolumeClaim?.claimName;
      if (name === undefined || world.storage.objects.claim(pod.namespace, name)) continue;
      return { type: 'reject', rejection: rejection(`persistentvolumeclaim "${name}" not found`) };
    }
    const isClaimInUse = pod.claims.some((name) => isTaken(pod, name, world));
    return disks.size === 0 && !isClaimInUse ? SKIP : { type: 'go', state: { disks, isClaimInUse } };
  },
  filter(_, node, { disks, isClaimInUse }) {
    if (disks.size > 0) {
      for (const other of node.pods.values()) if (conflict(disks, other.pod.spec.volumes)) return DISK;
    }
    return isClaimInUse ? CLAIM : undefined;
  },
  hints: {
    Node: ({ type }) => type === 'add',
    Pod({ type, object }, { pod, namespace, claims }) {
      if (type !== 'delete') return false;
      if (!object.spec.volumes?.length) return false;
      const used = new Set(object.metadata.namespace === namespace ? claims : []);
      const isFreed = object.spec.volumes.some(
        ({ persistentVolumeClaim: claim }) => claim && used.has(claim.claimName),
      );
      return isFreed || conflict(disksOf(pod.spec.volumes ?? []), object.spec.volumes);
    },
    PersistentVolumeClaim: ownClaim,
  },
};

function isTaken({ namespace }: PodInfo, name: string, { cluster, storage }: World): boolean {
  if (!cluster.claims.has(`${namespace}/${name}`)) return false;
  return storage.objects.claim(namespace, name)?.spec.accessModes?.includes('ReadWriteOncePod') ?? false;
}

/** Returns keys that identify the disk of a volume; none for other volumes. */
function keysOf({ gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd }: Disk): readonly string[] {
  if (gce) return [`gce ${gce.pdName}`];
  if (aws) return [`aws ${aws.volumeID}`];
  if (iscsi) return [`iscsi ${iscsi.iqn}`];
  return rbd ? rbd.monitors.map((monitor) => `rbd ${rbd.pool} ${rbd.image} ${monitor}`) : NONE;
}

const NONE: readonly string[] = [];

/** Reports whether a use of the disk can be shared with others that only read. */
function onlyReads({ gcePersistentDisk, iscsi, rbd }: Disk): boolean {
  return (gcePersistentDisk ?? iscsi ?? rbd)?.readOnly ?? false;
}

function disksOf(volumes: readonly Disk[]): Disks {
  const disks = new Map<string, boolean>();
  for (const volume of volumes) {
    for (const key of keysOf(volume)) disks.set(key, (disks.get(key) ?? true) && onlyReads(volume));
  }
  return disks;
}

/** Reports a conflict between disks. Most disks can be shared when all pods only read. */
function conflict(disks: Disks, volumes: readonly Disk[] = []): boolean {
  return volumes.some((volume) =>
    keysOf(volume).some((key) => {
      const isOnlyRead = disks.get(key);
      return isOnlyRead !== undefined && !(isOnlyRead && onlyReads(volume));
    }),
  );
}
