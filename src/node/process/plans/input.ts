/** What the plan of a container depends on. */
import type { ContainerConfig } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { ProcessIdentity } from './identity.ts';

/** Everything that the plan depends on, already looked up. */
export interface ContainerPlanInput {
  readonly config: ContainerConfig;
  readonly sandbox: SandboxConfig;
  readonly identity: ProcessIdentity;
  readonly root: ContainerRootFiles;
  /** The process that holds the namespaces of the sandbox, and the first one of its process namespace. */
  readonly holder: { readonly pid: number; readonly init: number } | undefined;
  /** The process whose process namespace is joined, for a container that is to see another one's processes. */
  readonly processTarget: number | undefined;
  /** Files that a process writes itself into to enter its cgroups. */
  readonly cgroups: readonly string[];
  /** How the container sees its cgroups: mounts by controller for version 1, one for version 2. */
  readonly cgroupMounts: readonly string[] | 'unified';
  /** Files of the sandbox that appear in `/etc`, and its shared memory. */
  readonly files: SandboxFiles;
  /** Directories of images that are mounted, by id of the image. */
  readonly imageDirectories: ReadonlyMap<string, string>;
  readonly architecture: string;
}

interface ContainerRootFiles {
  /** An empty directory, onto which the root is mounted. */
  readonly target: string;
  /** The files of the image, or `/` for those of the node. */
  readonly lower: string;
  /** Where changed files are kept; undefined: in memory. */
  readonly layer: string | undefined;
}

export interface SandboxFiles {
  readonly resolvConf: string;
  readonly hostname: string;
  readonly hosts: string;
  readonly sharedMemory: string;
}
