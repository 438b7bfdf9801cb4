/**
 * Volumes that are directories of one node: the contract between the provisioner, which writes the objects, and the agents of
 * the nodes, whose disks they are on.
 *
 * - An agent that starts a pod with such a volume makes its directory first, with all above it and open to everybody (mode
 *   0777), unless it is there.
 * - Data that is to go is a volume that is being deleted and held by `REMOVAL`. The agent of its node removes the directory
 *   and then takes the finalizer away. That it is gone already is a success. When it cannot, it says why in the volume's
 *   status (phase `Failed`) and tries again later.
 * - A node that has left the cluster has taken its disks along: then the provisioner takes the finalizer away.
 * - An agent touches no path but the one that `nodeDirectory` gives out. It finds its volumes by the label `NODE`.
 */
import { PROVISIONED_BY } from './binding.ts';

/** The provisioner's name in storage classes. */
export const NODE_DIRECTORY = 'quarterdeck.io/node-directory';

/** On a volume: the name of its node. */
export const NODE = 'volume.kubernetes.io/node';

/** What holds a volume until its data is gone; provisioners of Kubernetes use the same. */
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
  /** Absolute. It ends with the volume's name, so that nobody can point an agent at something else. */
  readonly path: string;
}

/** Undefined where the volume is of another sort. */
export function nodeDirectory({ metadata, spec }: DirectoryVolume): NodeDirectory | undefined {
  const { name, labels, annotations } = metadata;
  const node = labels?.[NODE];
  if (annotations?.[PROVISIONED_BY] !== NODE_DIRECTORY || !node || !name) return undefined;
  const path = spec.local?.path ?? '';
  const steps = path.split('/');
  const isPlain = steps[0] === '' && steps.slice(1).every((step) => step !== '' && step !== '.' && step !== '..');
  return isPlain && steps.at(-1) === name ? { node, path } : undefined;
}

/** Whether the data of the volume is to go now. */
export function isToRemove({ metadata, spec, status }: DirectoryVolume): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers?.includes(REMOVAL) ?? false) &&
    spec.persistentVolumeReclaimPolicy === 'Delete' &&
    status.phase !== 'Bound'
  );
}
