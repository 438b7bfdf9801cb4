/** Opens the volumes of a node: everything that pods have below the agent's directory, and their mounts. */
import { FileTooLargeError } from '../../base/files/inside/errors.ts';
import { readInside } from '../../base/files/inside/read-inside.ts';
import type { Logger } from '../../base/log.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { IdMapping } from '../runtime/container-config.ts';
import type { UserNamespaceMode } from '../runtime/runtime.ts';
import { containerMounts } from './container-mounts.ts';
import type { CsiSource } from './csi/describe-volume.ts';
import { CsiDrivers } from './csi/drivers.ts';
import { csiDirectory, VolumesInUse } from './csi/in-use.ts';
import { refreshCsi } from './csi/prepare-csi.ts';
import { csiStats } from './csi/stats.ts';
import { ownDirectory } from './directories/own-directory.ts';
import { ServiceAccountTokens } from './files/service-account-tokens.ts';
import { isFileVolume } from './files/sources.ts';
import type { HostIds } from './host/host-ids.ts';
import { Layout } from './host/layout.ts';
import { hostMounter } from './host/mounter.ts';
import { namesIn } from './host/names-in.ts';
import { SecretMemory } from './host/secret-memory.ts';
import { boundVolume } from './kinds/claim.ts';
import { refreshFileVolume } from './kinds/file-volume.ts';
import { prepareVolume, setUpFailure } from './kinds/prepare-volume.ts';
import type { PodVolume, VolumeHost, VolumeSetup } from './kinds/setup.ts';
import { releasePod } from './release.ts';
import { SerialByKey } from './serial-by-key.ts';
import { podUsage } from './usage.ts';
import { userNamespaceOf } from './user-namespaces.ts';
import {
  type ContainerMounts,
  type DriverVolumeStats,
  type MountRequest,
  type PodUsage,
  type PreparedVolume,
  type PreparedVolumes,
  type RefreshResult,
  VolumeError,
  type Volumes,
} from './volumes.ts';

export interface VolumesOptions
  extends Pick<VolumeHost, 'nodeName' | 'api' | 'allocatable' | 'liveConfigVolumes' | 'clock' | 'random'> {
  /** The agent's directory on the node, absolute. Pods are in `pods/UID` below it, as in kubelet's. */
  readonly root: string;
  /** Where the volumes are that were provisioned on the node; undefined: at the paths that they have. */
  readonly volumesDirectory?: string | undefined;
  /** True when the agent may mount, that is, when it is root. Otherwise volumes that need a mount are a VolumeError. */
  readonly canMount: boolean;
  /**
   * Returns how the runtime handles the user namespace of a pod; default: it maps mounts of pods with `hostUsers:
   * false`.
   */
  readonly userNamespaceOf?: ((pod: SeenPod) => UserNamespaceMode) | undefined;
  readonly log: Logger;
}

export function openVolumes(options: VolumesOptions): Volumes {
  const { root, api, clock, log } = options;
  const layout = new Layout(root);
  const csi = new CsiDrivers({ registry: layout.pluginRegistry, api, clock, log });
  const mounter = hostMounter(options.canMount);
  const host = {
    ...options,
    layout,
    mounter,
    directoryOf: ownDirectory(options.volumesDirectory),
    memory: new SecretMemory(layout.memory, mounter, log),
    tokens: new ServiceAccountTokens(api, clock, log),
    csi,
    inUse: new VolumesInUse(layout, api),
    staging: new SerialByKey(),
  };
  return new NodeVolumes(host, options.userNamespaceOf ?? mappedWhereAsked);
}

const mappedWhereAsked = ({ spec }: SeenPod): UserNamespaceMode =>
  spec.hostUsers === false ? 'mapped-mounts' : 'none';

class NodeVolumes implements Volumes {
  /** Serializes work on the volumes of each pod. */
  readonly #turns = new SerialByKey();
  readonly #prepared = new Map<string, PreparedVolumes>();

  constructor(
    private readonly host: VolumeHost,
    private readonly userNamespaceOf: (pod: SeenPod) => UserNamespaceMode,
  ) {}

  prepare(pod: SeenPod): Promise<PreparedVolumes> {
    return this.#turns.run(uidOf(pod), () => this.#prepare(pod));
  }

  mounts(pod: SeenPod, container: SeenContainer, request: MountRequest): Promise<ContainerMounts> {
    return this.#turns.run(uidOf(pod), async () => {
      const prepared = await this.#preparedVolumes(pod);
      const { layout, mounter } = this.host;
      const ids = await this.#hostIds(pod);
      // Mounts are not mapped again when the owners of files are the node's.
      const asked = ids ? { ...request, idMappings: undefined } : request;
      return containerMounts(pod, container, asked, { layout, mounter, prepared, ids });
    });
  }

  async readFile(pod: SeenPod, { volumeName, path }: { volumeName: string; path: string }) {
    const volume = (await this.#turns.run(uidOf(pod), () => this.#preparedVolumes(pod))).get(volumeName);
    if (volume?.type !== 'directory') return undefined;
    try {
      const contents = await readInside(volume.path, path, { links: 'beneath', maxBytes: MAX_FILE_BYTES });
      return contents?.toString('utf8');
    } catch (error) {
      if (!(error instanceof FileTooLargeError)) throw error;
      throw new VolumeError(`file "${path}" is larger than ${MAX_FILE_BYTES} bytes`, { cause: error });
    }
  }

  terminationMessageFile(podUid: string, container: string, attempt: number): string {
    return this.host.layout.terminationMessage(podUid, container, attempt);
  }

  async idMappings(pod: SeenPod): Promise<readonly IdMapping[] | undefined> {
    if (this.userNamespaceOf(pod) === 'none') return undefined;
    return this.#turns.run(ALL_PODS, () => userNamespaceOf(this.host.layout, uidOf(pod)));
  }

  release(podUid: string): Promise<void> {
    return this.#turns.run(podUid, async () => {
      this.#prepared.delete(podUid);
      this.host.tokens.forget(podUid);
      await releasePod(podUid, this.host);
    });
  }

  async leftovers(): Promise<readonly string[]> {
    const { pods, memory } = this.host.layout;
    return [...new Set([...(await namesIn(pods)), ...(await namesIn(memory))])];
  }

  close(): Promise<void> {
    return this.host.memory.close();
  }

  refresh(pod: SeenPod): Promise<RefreshResult> {
    return this.#turns.run(uidOf(pod), async () => {
      let nextAt: number | undefined;
      const common = { pod, uid: uidOf(pod), host: this.host, ids: await this.#hostIds(pod) };
      for (const volume of (pod.spec.volumes ?? []).filter(isFileVolume)) {
        const renewAt = await refreshFileVolume({ ...common, volume }).catch((error) => {
          throw setUpFailure(volume.name, error);
        });
        if (renewAt !== undefined) nextAt = Math.min(nextAt ?? renewAt, renewAt);
      }
      for (const volume of this.#csiVolumes(pod)) {
        const setup = { ...common, volume };
        const renewAt = await refreshCsi(setup, await csiSource(setup)).catch((error) => {
          throw setUpFailure(volume.name, error);
        });
        if (renewAt !== undefined) nextAt = Math.min(nextAt ?? renewAt, renewAt);
      }
      return { nextAt };
    });
  }

  followDrivers(signal: AbortSignal): Promise<void> {
    return this.host.csi.follow(signal);
  }

  usage(podUid: string): Promise<PodUsage> {
    return podUsage(this.host.layout, podUid);
  }

  driverStats(podUid: string): Promise<readonly DriverVolumeStats[]> {
    return csiStats(this.host, podUid);
  }

  /** Returns the pod's prepared volumes that a CSI driver has published. */
  #csiVolumes(pod: SeenPod): readonly PodVolume[] {
    const prepared = this.#prepared.get(uidOf(pod));
    const published = `${csiDirectory(this.host.layout, uidOf(pod))}/`;
    return (pod.spec.volumes ?? []).filter(({ name }) => {
      const volume = prepared?.get(name);
      return volume?.type === 'directory' && volume.path.startsWith(published);
    });
  }

  /** Returns the owner ids of the pod's files on disk; undefined: they are the ids that the pod sees. */
  async #hostIds(pod: SeenPod): Promise<HostIds | undefined> {
    if (this.userNamespaceOf(pod) !== 'mapped-owners') return undefined;
    const [range] = (await this.idMappings(pod)) ?? [];
    return range && { uidBase: range.hostId, gidBase: range.hostId, length: range.length };
  }

  async #preparedVolumes(pod: SeenPod): Promise<PreparedVolumes> {
    return this.#prepared.get(uidOf(pod)) ?? this.#prepare(pod);
  }

  async #prepare(pod: SeenPod): Promise<PreparedVolumes> {
    const uid = uidOf(pod);
    const ids = await this.#hostIds(pod);
    const prepared = new Map<string, PreparedVolume>();
    for (const volume of pod.spec.volumes ?? []) {
      prepared.set(volume.name, await prepareVolume({ pod, uid, volume, host: this.host, ids }));
    }
    this.#prepared.set(uid, prepared);
    return prepared;
  }
}

async function csiSource(setup: VolumeSetup): Promise<CsiSource> {
  const { csi } = setup.volume;
  return csi ? { type: 'inline', source: csi } : { type: 'persistent', ...(await boundVolume(setup)) };
}

/** Limit for a file with variables, which a container has written. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Key for work on all pods; no pod has this UID. */
const ALL_PODS = '';

const uidOf = ({ metadata }: SeenPod): string => metadata.uid ?? '';
