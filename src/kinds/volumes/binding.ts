/** What binds a claim and a volume, and by which annotations Kubernetes' tools see how far that has got. */

/** On a claim: it has once been bound. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** On either: that they belong together was decided by the cluster, not by a person. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** On a volume: who made it for its claim. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** On a claim: who is to make its volume. The second is what it was called before. */
export const PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const OLD_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';
/** On a claim: the node for which its volume is to be made. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Where claims and volumes named their class before there was a field for it. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

type Annotations = Readonly<Record<string, string>>;

/** What is read of a claim. */
export interface SeenClaim {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly annotations?: Annotations;
  };
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[];
      }[];
    };
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
}

/** What is read of a volume. */
export interface SeenVolume {
  readonly metadata: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Annotations;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly claimRef?: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
  };
  readonly status: { readonly phase?: string };
}

/** Whether the claim has its volume for good. */
export function isBound({ metadata, spec }: SeenClaim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** Whether the volume is the claim's, or kept for it by name. */
export function isFor({ spec: { claimRef } }: SeenVolume, { metadata }: SeenClaim): boolean {
  if (claimRef?.name !== metadata.name || claimRef?.namespace !== metadata.namespace) return false;
  return !claimRef?.uid || claimRef.uid === metadata.uid;
}

interface Classed {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: { readonly storageClassName?: string };
}

/** Undefined where nothing is said, which is not the same as the empty name: that asks for no class. */
export function classAskedFor({ metadata, spec }: Classed): string | undefined {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec.storageClassName;
}

/** The class that a claim asks for or a volume belongs to; empty where there is none. */
export function classNameOf(object: Classed): string {
  return classAskedFor(object) ?? '';
}

const NONE: readonly string[] = [];

/** An index: volumes that nobody has, by their class. */
export const freeByClass = (volume: SeenVolume): readonly string[] =>
  volume.spec.claimRef || volume.status.phase !== 'Available' ? NONE : [classNameOf(volume)];

/** An index: volumes by the claim that has them or for which they are kept, `namespace/name`. */
export const volumesByClaim = ({ spec: { claimRef } }: SeenVolume): readonly string[] =>
  claimRef ? [`${claimRef.namespace}/${claimRef.name}`] : NONE;
