import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { PROVISIONED_BY, PROVISIONER, SELECTED_NODE, volumesByClaim } from '../../../kinds/volumes/binding.ts';
import { NODE, NODE_DIRECTORY } from '../../../kinds/volumes/node-directory.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import type { Plan } from '../../loop/plan.ts';
import { directoriesByNode, isHealthy } from './nodes.ts';
import { planProvision } from './provision.ts';
import { planDirectory } from './reclaim.ts';
import { planResize } from './resize.ts';

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
