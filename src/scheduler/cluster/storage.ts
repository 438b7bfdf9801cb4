/** Claims, volumes and storage classes, with decisions of the scheduler that are not yet written. */
import { SELECTED_NODE } from '../../kinds/volumes/binding.ts';
import type {
  Claim,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  Volume,
  VolumeAttachment,
} from '../objects.ts';

export interface StorageObjects {
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  freeVolumes(className: string): readonly Volume[];
  /** Volumes that are bound to a claim or reserved for it, by `namespace/name`. */
  volumesFor(claim: string): readonly Volume[];
  class(name: string): StorageClass | undefined;
  csiNode(nodeName: string): CSINode | undefined;
  driver(name: string): CSIDriver | undefined;
  capacities(): readonly CSIStorageCapacity[];
  attachments(nodeName: string): readonly VolumeAttachment[];
}

/** Actions on claims that must precede the binding of their pod. */
export interface VolumePlan {
  /** Existing volumes for claims. */
  readonly bind: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** Claims to provision a volume for, on the pod's node. */
  readonly provision: readonly Claim[];
}

export class Storage {
  readonly #nodeOfClaim = new Map<string, string>();
  readonly #volumeOfClaim = new Map<string, string>();
  readonly #promised = new Set<string>();

  constructor(readonly objects: StorageObjects) {}

  assume({ bind, provision }: VolumePlan, nodeName: string): void {
    for (const { claim, volume } of bind) {
      const { name = '' } = volume.metadata;
      this.#volumeOfClaim.set(claimKey(claim), name);
      this.#promised.add(name);
    }
    for (const claim of provision) this.#nodeOfClaim.set(claimKey(claim), nodeName);
  }

  /** Drops assumptions that were written, or will not be. */
  forget({ bind, provision }: VolumePlan): void {
    for (const { claim, volume } of bind) {
      this.#volumeOfClaim.delete(claimKey(claim));
      this.#promised.delete(volume.metadata.name ?? '');
    }
    for (const claim of provision) this.#nodeOfClaim.delete(claimKey(claim));
  }

  /** The node that a volume is being provisioned for. */
  selectedNode(claim: Claim): string | undefined {
    return this.#nodeOfClaim.get(claimKey(claim)) ?? claim.metadata.annotations?.[SELECTED_NODE];
  }

  assumedVolume(claim: Claim): Volume | undefined {
    const name = this.#volumeOfClaim.get(claimKey(claim));
    return name === undefined ? undefined : this.objects.volume(name);
  }

  isAssumed({ metadata }: Volume): boolean {
    return this.#promised.has(metadata.name ?? '');
  }
}

export const claimKey = ({ metadata }: Claim) => `${metadata.namespace}/${metadata.name}`;
