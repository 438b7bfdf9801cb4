/** Inputs of the OCI specification of a container. */
import type { ContainerConfig } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { ProcessIdentity } from './identity.ts';
import type { MountFlags } from './mount-flags.ts';
import type { OciDevice } from './spec.ts';

/** Everything that the specification depends on, already looked up. */
export interface ContainerInput {
  readonly config: ContainerConfig;
  readonly sandbox: SandboxConfig;
  readonly identity: ProcessIdentity;
  /** Where the root of the container is mounted when it starts. */
  readonly root: string;
  /** True when the root is a layer above the files of the node. */
  readonly isHostImage: boolean;
  /** A directory with the files of the sandbox's namespaces, as `/proc/PID/ns`; undefined: it has none of its own. */
  readonly namespaces: string | undefined;
  /** The process whose process namespace is joined, for a container that is to see another one's processes. */
  readonly processTarget: number | undefined;
  /** Below the cgroup that carries the limits. */
  readonly cgroup: string | undefined;
  readonly devices: readonly OciDevice[];
  /** A named pipe from which a line comes when the network of the pod is there. */
  readonly gate: string;
  /** Where its /dev is when it starts. */
  readonly devDirectory: string;
  readonly files: SandboxFiles;
  /** Directories of images that are mounted, by id of the image. */
  readonly imageDirectories: ReadonlyMap<string, string>;
  /** Flags of the node's mounts, on which the sources of bind mounts are. */
  readonly mountFlags: MountFlags;
  /** Paths of the node that no container sees: keys, stores and volumes of clusters. */
  readonly hidden: readonly string[];
  readonly machine: OciMachine;
}

/** Facts about this machine that specifications depend on. */
export interface OciMachine {
  readonly architecture: string;
  /** The capabilities that this process could pass on. */
  readonly capabilities: ReadonlySet<string>;
  /** The lowest value that this process may set for another one; undefined: any. */
  readonly minOomScoreAdj: number | undefined;
}

/** Files of the sandbox that appear in `/etc`, and its shared memory. */
export interface SandboxFiles {
  readonly resolvConf: string;
  readonly hostname: string;
  readonly hosts: string;
  readonly sharedMemory: string;
}
