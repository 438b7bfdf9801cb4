/** The volumes of the pods of a node, as the agent uses them. */
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { Device, EnvVariable, IdMapping, Mount } from '../runtime/container-config.ts';

export interface Volumes {
  /** Makes the volumes of a pod usable. Idempotent; rejects with a VolumeError. */
  prepare(pod: SeenPod): Promise<PreparedVolumes>;
  /**
   * Prepares the mounts of a container of a prepared pod: its volumeMounts with their subPaths, the hosts file that the
   * agent manages, and the file for its termination message, which is created empty. Rejects with a VolumeError, which
   * is the reason `CreateContainerConfigError` of the container.
   */
  mounts(pod: SeenPod, container: SeenContainer, request: MountRequest): Promise<ContainerMounts>;
  /** Reads a file in a volume of the pod, for `fileKeyRef`. No link leads out of the volume. Undefined if there is none. */
  readFile(pod: SeenPod, file: { readonly volumeName: string; readonly path: string }): Promise<string | undefined>;
  /** The file that holds the termination message of a container, where `mounts` has put it. */
  terminationMessageFile(podUid: string, container: string, attempt: number): string;
  /** Returns the ids of a pod with its own user namespace; undefined for others. They stay until `release`. */
  idMappings(pod: SeenPod): Promise<readonly IdMapping[] | undefined>;
  /**
   * Unmounts the pod's volumes and removes everything that belongs to the pod alone. Idempotent, and works without the
   * pod's object.
   */
  release(podUid: string): Promise<void>;
  /** Returns pods with data on this node, so that a new agent finds leftovers. */
  leftovers(): Promise<readonly string[]>;
  /**
   * Refreshes changing files of a running pod: tokens, the downward API, and configuration with
   * `--live-config-volumes`.
   */
  refresh(pod: SeenPod): Promise<RefreshResult>;
  /**
   * Returns the size of the pod's data on this node beside the layers and logs of its containers, for eviction and
   * statistics.
   */
  usage(podUid: string): Promise<PodUsage>;
  /** Returns statistics of CSI drivers about the pod's volumes. */
  driverStats(podUid: string): Promise<readonly DriverVolumeStats[]>;
  /** Unmounts everything that no pod needs. Volumes of pods stay. */
  close(): Promise<void>;
  /** Registers the CSI drivers of the node as they come and go, until the signal is aborted. */
  followDrivers(signal: AbortSignal): Promise<void>;
}

/** Usage in bytes. Volumes that cannot be measured count as more than any limit. */
export interface PodUsage {
  /** Usage of volumes by name. */
  readonly volumes: ReadonlyMap<string, number>;
  /** `/etc/hosts`, which all containers share. */
  readonly shared: number;
  /** Termination messages, by name of the container. */
  readonly containers: ReadonlyMap<string, number>;
}

/** Numbers that the driver does not know are absent. */
export interface DriverVolumeStats {
  /** Name of the volume in the pod. */
  readonly name: string;
  /** The claim that the volume belongs to. */
  readonly claim?: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

export interface MountRequest {
  /** Counts the containers of this name in the pod, from zero. */
  readonly attempt: number;
  /** Environment of the container, for `subPathExpr`. */
  readonly env: readonly EnvVariable[];
  /** The contents of `/etc/hosts`; undefined: the image's own file is used. */
  readonly hosts: string | undefined;
  /** Maps the ids of files when the pod has a user namespace. */
  readonly idMappings: readonly IdMapping[] | undefined;
  /** True when the runtime can make mounts below a read-only mount read-only, too. */
  readonly supportsRecursiveReadOnly: boolean;
}

export interface ContainerMounts {
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
}

/** Latest time at which `refresh` must be called again; undefined: nothing in the pod changes with time. */
export interface RefreshResult {
  readonly nextAt: number | undefined;
}

/** Prepared volumes by name. */
export type PreparedVolumes = ReadonlyMap<string, PreparedVolume>;

export type PreparedVolume =
  | {
      readonly type: 'directory';
      /** Absolute, on the node; a file or device for some kinds. */
      readonly path: string;
      readonly readOnly: boolean;
      readonly selinuxRelabel: boolean;
    }
  | { readonly type: 'image'; readonly imageId: string };

/** Why volumes cannot be used (yet). The message is that of the event FailedMount. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}

/** A failure of another step than the set-up of a volume. */
export class VolumeStepError extends VolumeError {
  readonly step: 'WaitForAttach' | 'MountDevice';

  constructor(step: VolumeStepError['step'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.step = step;
  }
}
