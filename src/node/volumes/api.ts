/** Interface of volumes to the API and to the rest of the agent. The agent provides it; there is no client in here. */
import type { DeepReadonly } from '../../api/object-types.ts';
import type { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import type { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import type { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { CSIDriver } from '../../kinds/groups/storage/csi-driver.ts';
import type { VolumeAttachment } from '../../kinds/groups/storage/volume-attachment.ts';
import type { LabelSelectorObject } from '../../schema/selector/selector.ts';
import type { SeenPod } from '../pod/container-run.ts';

/** Access to the API. Reads return undefined for missing objects, and reject with the API's error otherwise. */
export interface VolumesApi {
  configMap(namespace: string, name: string): Promise<DeepReadonly<ConfigMap> | undefined>;
  secret(namespace: string, name: string): Promise<DeepReadonly<Secret> | undefined>;
  claim(namespace: string, name: string): Promise<DeepReadonly<PersistentVolumeClaim> | undefined>;
  persistentVolume(name: string): Promise<DeepReadonly<PersistentVolume> | undefined>;
  /** Creates a token of a service account (TokenRequest), bound to a pod. */
  createToken(namespace: string, serviceAccount: string, request: TokenRequest): Promise<IssuedToken>;
  /** PEM bundles: the one of a name, or those of a signer whose labels match. */
  trustBundles(selector: TrustBundleSelector): Promise<readonly string[]>;
  /** Settings of a CSI driver; undefined: its defaults. */
  csiDriver?(name: string): Promise<DeepReadonly<CSIDriver> | undefined>;
  /** Records a driver of the node with its description of the node. */
  csiDriverAdded?(driver: CsiDriverInfo): Promise<void>;
  csiDriverRemoved?(name: string): Promise<void>;
  volumeAttachment?(name: string): Promise<DeepReadonly<VolumeAttachment> | undefined>;
  /** Replaces the list of attached volumes that pods of the node use, by their unique names. */
  reportVolumesInUse?(names: readonly string[]): Promise<void>;
  /** Records that the file system of a claim's volume has grown to this size. */
  claimExpanded?(claim: DeepReadonly<PersistentVolumeClaim>, size: string): Promise<void>;
  /** Pulls the image according to the policy, with the pod's credentials, and returns its id. */
  pullImage(pod: SeenPod, reference: string, policy: string | undefined): Promise<string>;
}

export interface CsiDriverInfo {
  readonly name: string;
  /** Name of the node in the storage system. */
  readonly nodeId: string;
  /** Maximum number of volumes; 0 for no limit. */
  readonly maxVolumes: number;
  /** Labels of the node that describe its location. */
  readonly topology: Readonly<Record<string, string>>;
}

export interface TokenRequest {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundPod: { readonly name: string; readonly uid: string };
}

export interface IssuedToken {
  readonly token: string;
  /** RFC 3339. */
  readonly expirationTimestamp: string;
}

export type TrustBundleSelector =
  | { readonly name: string }
  | { readonly signerName: string; readonly labelSelector: LabelSelectorObject | undefined };
