/** The binding of claims and volumes, and the annotations by which Kubernetes tracks it. */
import type { LabelSelectorObject } from '../../schema/selector/selector.ts';

/** Annotation of a claim: binding has completed. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** Annotation of claims and volumes: the controller chose the binding, not a user. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** Annotation of a volume: the provisioner that created it. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Annotation of a claim: the provisioner of its volume. The second is the older name of the annotation. */
export const PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const OLD_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';
/** Annotation of a claim: the node for which its volume is to be provisioned. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Annotation of claims and volumes: the storage class, from before there was a field for it. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

type Annotations = Readonly<Record<string, string>>;

/** The part of a claim that is read here. */
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
    readonly selector?: LabelSelectorObject;
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
}

/** The part of a volume that is read here. */
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

/** Reports whether the binding of the claim has completed. */
export function isBound({ metadata, spec }: SeenClaim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** Reports whether the volume is bound to the claim, or reserved for it by name. */
export function isFor({ spec: { claimRef } }: SeenVolume, { metadata }: SeenClaim): boolean {
  if (claimRef?.name !== metadata.name || claimRef?.namespace !== metadata.namespace) return false;
  return !claimRef?.uid || claimRef.uid === metadata.uid;
}

interface Classed {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: { readonly storageClassName?: string };
}

/** Returns the requested class; undefined when none is given, unlike '', which requests a volume without a class. */
export function classAskedFor({ metadata, spec }: Classed): string | undefined {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec.storageClassName;
}

/** The class of a claim or volume; '' for none. */
export function classNameOf(object: Classed): string {
  return classAskedFor(object) ?? '';
}

const NONE: readonly string[] = [];

/** An index: available volumes by their class. */
export const freeByClass = (volume: SeenVolume): readonly string[] =>
  volume.spec.claimRef || volume.status.phase !== 'Available' ? NONE : [classNameOf(volume)];

/** An index: volumes by the claim that they are bound to or reserved for, `namespace/name`. */
export const volumesByClaim = ({ spec: { claimRef } }: SeenVolume): readonly string[] =>
  claimRef ? [`${claimRef.namespace}/${claimRef.name}`] : NONE;
