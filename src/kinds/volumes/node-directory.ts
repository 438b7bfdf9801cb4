/**
 * Volumes that are directories on one node: the contract between the provisioner, which writes the objects, and the agents
 * of the nodes that have the directories.
 *
 * - An agent that starts a pod with such a volume creates the directory, with its parents and mode 0777, unless it exists.
 * - A volume that is being deleted and has the finalizer `REMOVAL` is to be erased: the agent of its node removes the
 *   directory and then the finalizer. A missing directory is a success. When removal fails, the agent sets the volume's
 *   status to phase `Failed` with the reason, and tries again later.
 * - When the node has left the cluster, the provisioner removes the finalizer.
 * - An agent touches no path but the one that `nodeDirectory` returns. It finds its volumes by the label `NODE`.
 */
import { PROVISIONED_BY } from './binding.ts';

/** The provisioner's name in storage classes. */
export const NODE_DIRECTORY = 'quarterdeck.io/node-directory';

/** Label of a volume: the name of its node. */
export const NODE = 'volume.kubernetes.io/node';

/** The finalizer that keeps a volume until its data is removed; provisioners of Kubernetes use the same. */
export const REMOVAL = 'external-provisioner.volume.kubernetes.io/finalizer';

interface DirectoryVolume {
  readonly metadata: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly local?: { readonly path: string }; readonly persistentVolumeReclaimPolicy?: string };
  readonly status: { readonly phase?: string };
}

export interface NodeDirectory {
  readonly node: string;
  /** Absolute. It ends with the volume's name, so that an edited volume cannot make an agent remove other directories. */
  readonly path: string;
}

/** Returns the directory; undefined for other volumes. */
export function nodeDirectory({ metadata, spec }: DirectoryVolume): NodeDirectory | undefined {
  const { name, labels, annotations } = metadata;
  const node = labels?.[NODE];
  if (annotations?.[PROVISIONED_BY] !== NODE_DIRECTORY || !node || !name) return undefined;
  const path = spec.local?.path ?? '';
  const steps = path.split('/');
  const isPlain = steps[0] === '' && steps.slice(1).every((step) => step !== '' && step !== '.' && step !== '..');
  return isPlain && steps.at(-1) === name ? { node, path } : undefined;
}

/** Reports whether the data of the volume is to be removed now. */
export function isToRemove({ metadata, spec, status }: DirectoryVolume): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers?.includes(REMOVAL) ?? false) &&
    spec.persistentVolumeReclaimPolicy === 'Delete' &&
    status.phase !== 'Bound'
  );
}
