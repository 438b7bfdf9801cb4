/** Limits the volumes of a driver that are attached to a node. */
import { classNameOf } from '../../../kinds/volumes/binding.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import type { CSINode } from '../../objects.ts';
import { ownClaim } from './volume-matching.ts';

const TOO_MANY = rejection('node(s) exceed max volume count', true);

interface State {
  readonly world: World;
  /** The driver of each of the pod's volumes. */
  readonly wanted: ReadonlyMap<string, string>;
}

export const nodeVolumeLimits: Plugin<State> = {
  name: 'NodeVolumeLimits',
  dependsOnPods: true,
  preFilter: (pod, world) =>
    pod.claims.length === 0 ? SKIP : { type: 'go', state: { world, wanted: volumesOf(pod, world) } },
  filter(_, node, { world, wanted }) {
    const limits = limitsOf(world.storage.objects.csiNode(node.name));
    if (limits.size === 0) return undefined;
    const there = attached(node, world);
    const counts = new Map<string, number>();
    for (const driver of there.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
    for (const [volume, driver] of wanted) {
      if (there.has(volume)) continue;
      const count = (counts.get(driver) ?? 0) + 1;
      if (count > (limits.get(driver) ?? Number.POSITIVE_INFINITY)) return TOO_MANY;
      counts.set(driver, count);
    }
    return undefined;
  },
  hints: {
    Node: ({ type }) => type === 'add',
    CSINode({ type, object, old }) {
      if (type === 'add') return true;
      if (type === 'delete') return false;
      const before = limitsOf(old);
      return [...limitsOf(object)].some(([driver, limit]) => limit > (before.get(driver) ?? 0));
    },
    Pod: ({ type, object }) => type === 'delete' && Boolean(object.spec.volumes?.length),
    PersistentVolumeClaim: ownClaim,
    VolumeAttachment: ({ type }) => type === 'delete',
  },
};

function limitsOf(csiNode: CSINode | undefined): ReadonlyMap<string, number> {
  const drivers = csiNode?.spec.drivers ?? [];
  return new Map(
    drivers.flatMap(({ name, allocatable }) => (allocatable?.count == null ? [] : [[name, allocatable.count]])),
  );
}

/** The driver of each volume of the pod that a driver attaches. */
function volumesOf({ claims, namespace }: PodInfo, { storage: { objects } }: World): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of claims) {
    const claim = objects.claim(namespace, name);
    if (!claim) continue;
    const volume = claim.spec.volumeName ? objects.volume(claim.spec.volumeName) : undefined;
    if (volume) {
      const { csi } = volume.spec;
      if (csi) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
    } else {
      // It will be provisioned by the driver of its class.
      const driver = objects.class(classNameOf(claim))?.provisioner;
      if (driver) found.set(`${driver}/to be made/${namespace}/${name}`, driver);
    }
  }
  return found;
}

/** Returns the drivers of volumes attached by pods on the node, and of other attachments that remain. */
function attached(node: NodeInfo, world: World): ReadonlyMap<string, string> {
  const { objects } = world.storage;
  const found = new Map<string, string>();
  for (const pod of node.pods.values()) {
    for (const [volume, driver] of volumesOf(pod, world)) found.set(volume, driver);
  }
  for (const { spec } of objects.attachments(node.name)) {
    const csi = objects.volume(spec.source.persistentVolumeName ?? '')?.spec.csi;
    if (csi) found.set(`${spec.attacher}/${csi.volumeHandle}`, spec.attacher);
  }
  return found;
}
