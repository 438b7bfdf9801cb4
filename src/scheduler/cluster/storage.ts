/** Claims, volumes and what provides them, with what the scheduler has decided and not yet written. */
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

/** Where the objects come from. */
export interface StorageObjects {
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  /** Those of the class that nobody has. */
  freeVolumes(className: string): readonly Volume[];
  /** Those that are a claim's or are kept for it, by `namespace/name`. */
  volumesFor(claim: string): readonly Volume[];
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

export class Storage {
  readonly objects: StorageObjects;
  readonly #nodeOfClaim = new Map<string, string>();
  readonly #volumeOfClaim = new Map<string, string>();
  readonly #promised = new Set<string>();

  constructor(objects: StorageObjects) {
    this.objects = objects;
  }

  assume({ bind, provision }: VolumePlan, nodeName: string): void {
    for (const { claim, volume } of bind) {
      const { name = '' } = volume.metadata;
      this.#volumeOfClaim.set(claimKey(claim), name);
      this.#promised.add(name);
    }
    for (const claim of provision) this.#nodeOfClaim.set(claimKey(claim), nodeName);
  }

  /** What was assumed is written, or will not be. */
  forget({ bind, provision }: VolumePlan): void {
    for (const { claim, volume } of bind) {
      this.#volumeOfClaim.delete(claimKey(claim));
      this.#promised.delete(volume.metadata.name ?? '');
    }
    for (const claim of provision) this.#nodeOfClaim.delete(claimKey(claim));
  }

  /** The node for which a volume is being made. */
  selectedNode(claim: Claim): string | undefined {
    return this.#nodeOfClaim.get(claimKey(claim)) ?? claim.metadata.annotations?.[SELECTED_NODE];
  }

  /** The volume that was given to the claim a moment ago. */
  promisedTo(claim: Claim): Volume | undefined {
    const name = this.#volumeOfClaim.get(claimKey(claim));
    return name === undefined ? undefined : this.objects.volume(name);
  }

  /** Whether the volume was given to a claim a moment ago. */
  isPromised({ metadata }: Volume): boolean {
    return this.#promised.has(metadata.name ?? '');
  }
}

export const claimKey = ({ metadata }: Claim) => `${metadata.namespace}/${metadata.name}`;
