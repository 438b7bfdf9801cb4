/** Claims, volumes and what provides them, with what the scheduler has decided and not yet written. */
import type {
  Claim,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  Volume,
  VolumeAttachment,
} from '../objects.ts';

/** Where the objects come from. */
export interface StorageObjects {
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  volumesOf(className: string): readonly Volume[];
  class(name: string): StorageClass | undefined;
  csiNode(nodeName: string): CSINode | undefined;
  driver(name: string): CSIDriver | undefined;
  capacities(): readonly CSIStorageCapacity[];
  attachments(nodeName: string): readonly VolumeAttachment[];
}

/** What has to be done with claims before their pod can be bound. */
export interface VolumePlan {
  /** Volumes that are there and shall be the claims'. */
  readonly bind: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** Claims for which a volume shall be made that the node can use. */
  readonly provision: readonly Claim[];
}

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';

export class Storage {
  readonly objects: StorageObjects;
  readonly #nodeOfClaim = new Map<string, string>();
  readonly #claimOfVolume = new Map<string, string>();

  constructor(objects: StorageObjects) {
    this.objects = objects;
  }

  assume({ bind, provision }: VolumePlan, nodeName: string): void {
    for (const { claim, volume } of bind) this.#claimOfVolume.set(volume.metadata.name ?? '', keyOf(claim));
    for (const claim of provision) this.#nodeOfClaim.set(keyOf(claim), nodeName);
  }

  /** What was assumed is written, or will not be. */
  forget({ bind, provision }: VolumePlan): void {
    for (const { volume } of bind) this.#claimOfVolume.delete(volume.metadata.name ?? '');
    for (const claim of provision) this.#nodeOfClaim.delete(keyOf(claim));
  }

  /** The node for which a volume is being made. */
  selectedNode(claim: Claim): string | undefined {
    return this.#nodeOfClaim.get(keyOf(claim)) ?? claim.metadata.annotations?.[SELECTED_NODE];
  }

  /** Whether the volume was given to another claim a moment ago. */
  isPromised(volume: Volume, claim: Claim): boolean {
    const holder = this.#claimOfVolume.get(volume.metadata.name ?? '');
    return holder !== undefined && holder !== keyOf(claim);
  }
}

const keyOf = ({ metadata }: Claim) => `${metadata.namespace}/${metadata.name}`;

export function isBound({ spec, metadata }: Claim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** The class that a claim asks for; the annotation is what it was before there was a field. */
export function classNameOf({
  metadata,
  spec,
}: {
  metadata: Claim['metadata'];
  spec: { storageClassName?: string };
}): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName ?? '';
}
