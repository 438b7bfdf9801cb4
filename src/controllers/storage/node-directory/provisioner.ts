import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { PROVISIONED_BY, PROVISIONER, SELECTED_NODE, volumesByClaim } from '../../../kinds/volumes/binding.ts';
import { isMore, isToGrow } from '../../../kinds/volumes/growth.ts';
import { requestOf } from '../../../kinds/volumes/matching.ts';
import { isToRemove, NODE, NODE_DIRECTORY, nodeDirectory, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { event, type Plan, remove, update, updateStatus } from '../../loop/plan.ts';
import { withConditions, withoutCondition } from '../../shared/conditions.ts';
import { removeFinalizer } from '../../shared/ownership.ts';
import { directoriesByNode, isHealthy, planProvision, type World } from './provision.ts';

export interface NodeDirectoryOptions {
  /** The path below which directories are created on nodes, unless a class sets one. */
  readonly volumesDirectory?: string;
}

const DEFAULT_DIRECTORY = '/var/lib/quarterdeck/volumes';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

export function nodeDirectoryController({ volumesDirectory = DEFAULT_DIRECTORY }: NodeDirectoryOptions): Controller {
  return defineController<any, Observed>({
    name: 'node-directory-provisioner',
    account: 'node-directory-provisioner',
    component: NODE_DIRECTORY,
    also: [
      related(PersistentVolumeClaim, (claim) => (isOurs(claim) ? [keyOf(claim)] : [])),
      related(PersistentVolume, keysOfVolume),
      related(StorageClass, ({ provisioner }, { of }) => (provisioner === NODE_DIRECTORY ? claimsToProvision(of) : [])),
      related(Node, keysOfNode, (node, old) => isHealthy(node) === isHealthy(old)),
    ],
    observe: (_, world, { client }) => observe(world, client),
    plan: (_, world, now) => planKey(world, { root: volumesDirectory, now }),
  });
}

/** The node, if the server has it and the cache does not. */
interface Observed {
  readonly node?: DeepReadonly<Node> | undefined;
}

export function planKey(
  { key, of, observed }: Pick<Snapshot<Observed | undefined>, 'key' | 'of' | 'observed'>,
  { root, now }: { readonly root: string; readonly now: Date },
): Plan {
  const nodeNamed = (name: string) => of(Node).get(name) ?? observed?.node;
  const world = { of, nodeNamed };
  if (key.namespace === undefined) return planDirectory(of(PersistentVolume).get(key.name), world);
  const claim = of(PersistentVolumeClaim).get(key.name, key.namespace);
  return claim?.spec.volumeName ? planResize(claim, world, now) : planProvision(claim, world, root);
}

async function observe({ key, of }: Pick<Snapshot, 'key' | 'of'>, client: Client): Promise<Observed> {
  const name =
    key.namespace === undefined
      ? of(PersistentVolume).get(key.name)?.metadata.labels?.[NODE]
      : of(PersistentVolumeClaim).get(key.name, key.namespace)?.metadata.annotations?.[SELECTED_NODE];
  if (!name || of(Node).get(name)) return {};
  return { node: await client.of(Node).find(name) };
}

const NONE: readonly string[] = [];

const isOurs = ({ metadata }: Claim) => metadata.annotations?.[PROVISIONER] === NODE_DIRECTORY;

function keysOfVolume(volume: Volume): readonly string[] {
  if (volume.metadata.annotations?.[PROVISIONED_BY] !== NODE_DIRECTORY) return NONE;
  return [volume.metadata.name ?? '', ...volumesByClaim(volume)];
}

/** An index: claims to provision, under the single value `true`. */
const provisionIndex = (claim: Claim): readonly string[] => (isOurs(claim) && !claim.spec.volumeName ? ['true'] : NONE);

const claimsToProvision = (of: Listers['of']) => of(PersistentVolumeClaim).by(provisionIndex, 'true').map(keyOf);

function keysOfNode({ metadata: { name = '' } }: DeepReadonly<Node>, { of }: Listers): readonly string[] {
  const volumes = of(PersistentVolume).by(directoriesByNode, name);
  return [...claimsToProvision(of), ...volumes.map(({ metadata }) => metadata.name ?? '')];
}

function planDirectory(volume: Volume | undefined, world: World): Plan {
  if (volume?.metadata.annotations?.[PROVISIONED_BY] !== NODE_DIRECTORY) return [];
  const { finalizers = [], deletionTimestamp } = volume.metadata;
  const isHeld = finalizers.includes(REMOVAL);
  const goesWithClaim = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  if (isHeld && !goesWithClaim) return [release(volume)];
  if (deletionTimestamp) return isToRemove(volume) ? releaseIfNodeIsGone(volume, world) : [];
  if (!isHeld && goesWithClaim) return [addFinalizer(volume)];
  return goesWithClaim && volume.status.phase === 'Released' ? [remove(PersistentVolume, volume)] : [];
}

function releaseIfNodeIsGone(volume: Volume, world: World): Plan {
  const directory = nodeDirectory(volume);
  if (!directory) {
    const message = 'the node or path of the directory cannot be determined: its data is not removed';
    return [release(volume), event(volume, 'Warning', 'VolumeFailedDelete', message)];
  }
  return world.nodeNamed(directory.node) ? [] : [release(volume)];
}

function addFinalizer(volume: Volume) {
  const metadata = { ...volume.metadata, finalizers: [...(volume.metadata.finalizers ?? []), REMOVAL] };
  return update(PersistentVolume, { ...volume, metadata } as Draft<PersistentVolume>);
}

const release = (volume: Volume) => removeFinalizer(PersistentVolume, volume, REMOVAL);

/** Resizes in two steps, as watchers expect: first in progress, then done. */
function planResize(claim: Claim, { of }: Listers, now: Date): Plan {
  const volume = of(PersistentVolume).get(claim.spec.volumeName ?? '');
  if (!volume || !isToGrow(claim) || !nodeDirectory(volume)) return [];
  if (volume.spec.claimRef?.uid !== claim.metadata.uid) return [];
  const storage = requestOf(claim);
  if (!isBegun(claim, storage)) {
    const begun = `External resizer is resizing volume ${volume.metadata.name}`;
    return [writeStatus(claim, resizing(claim, now)), event(claim, 'Normal', 'Resizing', begun)];
  }
  const grown = { ...volume, spec: { ...volume.spec, capacity: { storage } } } as Draft<PersistentVolume>;
  return [
    ...(isMore(storage, volume.spec.capacity.storage ?? '0') ? [update(PersistentVolume, grown)] : []),
    writeStatus(claim, resized(claim)),
    event(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded'),
  ];
}

function isBegun({ status }: Claim, storage: string): boolean {
  const { allocatedResources, allocatedResourceStatuses } = status;
  return allocatedResources?.storage === storage && allocatedResourceStatuses?.storage === IN_PROGRESS;
}

const IN_PROGRESS = 'ControllerResizeInProgress';

function resizing(claim: Claim, now: Date): Claim['status'] {
  const { status } = claim;
  return {
    ...status,
    allocatedResources: { ...status.allocatedResources, storage: requestOf(claim) },
    allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: IN_PROGRESS },
    conditions: withConditions(status.conditions, [{ type: 'Resizing', status: 'True' }], now),
  };
}

function resized(claim: Claim): Claim['status'] {
  const { allocatedResourceStatuses, conditions, ...status } = claim.status;
  const { storage: _, ...others } = allocatedResourceStatuses ?? {};
  const left = withoutCondition(conditions, 'Resizing');
  return {
    ...status,
    capacity: { ...status.capacity, storage: requestOf(claim) },
    ...(Object.keys(others).length > 0 ? { allocatedResourceStatuses: others } : {}),
    ...(left.length > 0 ? { conditions: left } : {}),
  };
}

function writeStatus(claim: Claim, status: Claim['status']) {
  return updateStatus(PersistentVolumeClaim, { ...claim, status } as Draft<PersistentVolumeClaim>);
}
