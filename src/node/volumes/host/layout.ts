/** Layout of the pods' files on the node. It is kubelet's, because tools and CSI drivers know it. */
import { join } from 'node:path';

export class Layout {
  constructor(private readonly root: string) {}

  get pods(): string {
    return join(this.root, 'pods');
  }

  pod(uid: string): string {
    return join(this.pods, segment(uid));
  }

  /** `kind` is the name of a volume plugin: `empty-dir`, `projected`, `csi`… */
  volume(uid: string, kind: string, name: string): string {
    return join(this.pod(uid), 'volumes', `kubernetes.io~${kind}`, segment(name));
  }

  /** A tmpfs, with a directory for each pod. */
  get memory(): string {
    return join(this.root, 'memory');
  }

  /** The volumes of a pod that are in memory. */
  memoryVolumes(uid: string): string {
    return join(this.memory, segment(uid));
  }

  memoryVolume(uid: string, kind: string, name: string): string {
    return join(this.memoryVolumes(uid), `kubernetes.io~${kind}`, segment(name));
  }

  volumes(uid: string): string {
    return join(this.pod(uid), 'volumes');
  }

  hosts(uid: string): string {
    return join(this.pod(uid), 'etc-hosts');
  }

  /** Returns the folder with a directory for each container. */
  terminationMessages(uid: string): string {
    return join(this.pod(uid), 'containers');
  }

  terminationMessage(uid: string, container: string, attempt: number): string {
    return join(this.terminationMessages(uid), segment(container), String(attempt));
  }

  /** Returns the path at which the subPath of a volumeMount is mounted. */
  subPath(uid: string, volume: string, container: string, index: number): string {
    return join(this.pod(uid), 'volume-subpaths', segment(volume), segment(container), String(index));
  }

  /** CSI drivers announce themselves by sockets in it. */
  get pluginRegistry(): string {
    return join(this.root, 'plugins_registry');
  }

  /** Directory in which the volumes of CSI drivers are staged, once for all pods. */
  get csiStaging(): string {
    return join(this.root, 'plugins', 'kubernetes.io', 'csi');
  }
}

/** Checks a segment of a path. The API allows no invalid names; a path must never depend on that. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new RangeError(`"${name}" cannot be the name of a directory`);
  }
  return name;
}
