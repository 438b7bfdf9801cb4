/** Disks that only one node can use at a time, and claims that only one pod can use at a time. */
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, refusal, SKIP } from '../../framework/plugin.ts';
import type { Pod } from '../../objects.ts';
import { ownClaim } from './volume-hints.ts';

const DISK = refusal('node(s) had no available disk', true);
const CLAIM = refusal(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
  true,
);

type Disk = NonNullable<Pod['spec']['volumes']>[number];

interface State {
  readonly disks: readonly Disk[];
  readonly isClaimInUse: boolean;
}

export const volumeRestrictions: Plugin<State> = {
  name: 'VolumeRestrictions',
  dependsOnPods: true,
  preFilter(pod, world) {
    const { volumes } = pod.pod.spec;
    if (!volumes?.length) return SKIP;
    const disks = volumes.filter(isDisk);
    for (const { persistentVolumeClaim } of volumes) {
      const name = persistentVolumeClaim?.claimName;
      if (name === undefined || world.storage.objects.claim(pod.namespace, name)) continue;
      return { type: 'refuse', refusal: refusal(`persistentvolumeclaim "${name}" not found`) };
    }
    const isClaimInUse = pod.claims.some((name) => isTaken(pod, name, world));
    return disks.length === 0 && !isClaimInUse ? SKIP : { type: 'go', state: { disks, isClaimInUse } };
  },
  filter(_, node, { disks, isClaimInUse }) {
    for (const disk of disks) {
      for (const other of node.pods.values()) {
        if (other.pod.spec.volumes?.some((volume) => conflict(disk, volume))) return DISK;
      }
    }
    return isClaimInUse ? CLAIM : undefined;
  },
  hints: {
    Node: ({ type }) => type === 'add',
    Pod({ type, object }, { pod, namespace, claims }) {
      if (type !== 'delete') return false;
      return (object.spec.volumes ?? []).some((freed) => {
        const name = freed.persistentVolumeClaim?.claimName;
        if (name !== undefined) return object.metadata.namespace === namespace && claims.includes(name);
        return pod.spec.volumes?.some((volume) => conflict(volume, freed)) ?? false;
      });
    },
    PersistentVolumeClaim: ownClaim,
  },
};

function isTaken({ namespace }: PodInfo, name: string, { cluster, storage }: World): boolean {
  if (!cluster.claims.has(`${namespace}/${name}`)) return false;
  return storage.objects.claim(namespace, name)?.spec.accessModes?.includes('ReadWriteOncePod') ?? false;
}

function isDisk({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Disk): boolean {
  return Boolean(gcePersistentDisk ?? awsElasticBlockStore ?? iscsi ?? rbd);
}

/** Most disks can be shared when all pods only read. */
function conflict(a: Disk, b: Disk): boolean {
  const { gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd } = a;
  const shared = (x: { readOnly?: boolean }, y: { readOnly?: boolean }) => x.readOnly && y.readOnly;
  if (gce && b.gcePersistentDisk) {
    return gce.pdName === b.gcePersistentDisk.pdName && !shared(gce, b.gcePersistentDisk);
  }
  if (aws && b.awsElasticBlockStore) return aws.volumeID === b.awsElasticBlockStore.volumeID;
  if (iscsi && b.iscsi) return iscsi.iqn === b.iscsi.iqn && !shared(iscsi, b.iscsi);
  if (rbd && b.rbd) {
    const other = b.rbd;
    const isSame = rbd.pool === other.pool && rbd.image === other.image;
    return isSame && rbd.monitors.some((monitor) => other.monitors.includes(monitor)) && !shared(rbd, other);
  }
  return false;
}
