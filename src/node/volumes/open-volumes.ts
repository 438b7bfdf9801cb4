/** Opens the volumes of a node: everything that pods have below the agent's directory, and their mounts. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { VolumesApi } from './api.ts';
import { VolumeError, type Volumes } from './volumes.ts';

export interface VolumesOptions {
  /** The agent's directory on the node, absolute. Pods are in `pods/UID` below it, as in kubelet's. */
  readonly root: string;
  readonly nodeName: string;
  readonly api: VolumesApi;
  /** The node's allocatable resources, which the downward API shows for a container without limits. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** Whether changed ConfigMaps and Secrets reach the volumes of running pods. */
  readonly liveConfigVolumes: boolean;
  /** Whether the agent may mount, that is, whether it is root. Without, what needs a mount is a VolumeError. */
  readonly canMount: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function openVolumes(_options: VolumesOptions): Volumes {
  const refuse = async () => {
    throw new VolumeError('volumes are not available');
  };
  return {
    prepare: refuse,
    mounts: refuse,
    readFile: refuse,
    terminationMessageFile: () => '',
    release: refuse,
    leftovers: async () => [],
    refresh: refuse,
    usage: async () => new Map(),
  };
}
