/** Interface that the kinds of volumes receive. */
import type { Tools } from '../../../base/tools.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { VolumesApi } from '../api.ts';
import type { CsiDrivers } from '../csi/drivers.ts';
import type { VolumesInUse } from '../csi/in-use.ts';
import type { OwnDirectory } from '../directories/own-directory.ts';
import type { ServiceAccountTokens } from '../files/service-account-tokens.ts';
import type { HostIds } from '../host/host-ids.ts';
import type { Layout } from '../host/layout.ts';
import type { Mounter } from '../host/mounter.ts';
import type { SecretMemory } from '../host/secret-memory.ts';
import type { SerialByKey } from '../serial-by-key.ts';

export type PodVolume = NonNullable<SeenPod['spec']['volumes']>[number];

/** State that all volumes of a node share. */
export interface VolumeHost extends Pick<Tools, 'clock' | 'random'> {
  readonly nodeName: string;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly directoryOf: OwnDirectory;
  readonly api: VolumesApi;
  readonly tokens: ServiceAccountTokens;
  readonly csi: CsiDrivers;
  readonly inUse: VolumesInUse;
  /** Serializes work by staging path: a volume is not unstaged while another pod stages it. */
  readonly staging: SerialByKey;
  /** Memory for Secrets and tokens. */
  readonly memory: SecretMemory;
  /** The node's allocatable resources, which the downward API shows for a container without limits. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** True when changed ConfigMaps and Secrets reach the volumes of running pods. */
  readonly liveConfigVolumes: boolean;
}

/** Volume of a pod to set up. */
export interface VolumeSetup {
  readonly pod: SeenPod;
  readonly uid: string;
  readonly volume: PodVolume;
  readonly host: VolumeHost;
  /** Owner ids of files on disk; undefined: those of the node. */
  readonly ids: HostIds | undefined;
}
