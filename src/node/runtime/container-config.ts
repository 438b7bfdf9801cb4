/** Configuration of a container. Everything is resolved: values, not references. */

export interface ContainerConfig {
  readonly name: string;
  /** Counts the containers of this name in the pod, from zero: its restart count. */
  readonly attempt: number;
  /** The name in the pod's spec. */
  readonly image: string;
  /** The id that `Images.find` or `Images.pull` gave for it: the value of `imageID` in the status. */
  readonly imageId: string;
  /** Replaces the image's entry point. */
  readonly command: readonly string[] | undefined;
  /** Replaces the image's arguments. */
  readonly args: readonly string[] | undefined;
  readonly workingDirectory: string | undefined;
  readonly env: readonly EnvVariable[];
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Relative to the sandbox's log directory. */
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly resources: ContainerResources;
  readonly security: ContainerSecurity;
  /** For example `SIGUSR1`; undefined: the image's. */
  readonly stopSignal: string | undefined;
}

export interface EnvVariable {
  readonly name: string;
  readonly value: string;
}

export type Propagation = 'private' | 'host-to-container' | 'bidirectional';

export interface Mount {
  /** Absolute, on the node. Empty for an image. */
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  readonly recursiveReadOnly: boolean;
  readonly propagation: Propagation;
  readonly selinuxRelabel: boolean;
  readonly idMappings: { readonly uids: readonly IdMapping[]; readonly gids: readonly IdMapping[] } | undefined;
  /** The id of an image that is mounted instead of a path, and the part of it. */
  readonly image: { readonly id: string; readonly subPath: string } | undefined;
}

export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

export interface Device {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly permissions: string;
}

/** Limits for the cgroup. Undefined: none. */
export interface ContainerResources {
  readonly cpuShares: number | undefined;
  readonly cpuQuota: number | undefined;
  readonly cpuPeriod: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly oomScoreAdj: number | undefined;
  readonly hugepages: readonly { readonly pageSize: string; readonly bytes: number }[];
  readonly cpusetCpus: string | undefined;
  /** Keys and values of cgroup v2. */
  readonly unified: Readonly<Record<string, string>> | undefined;
  /** Maximum number of processes and threads. Only cgroups of pods have one. */
  readonly pidsLimit?: number | undefined;
}

/** No limits at all. */
export const NO_RESOURCES: ContainerResources = {
  cpuShares: undefined,
  cpuQuota: undefined,
  cpuPeriod: undefined,
  memoryBytes: undefined,
  oomScoreAdj: undefined,
  hugepages: [],
  cpusetCpus: undefined,
  unified: undefined,
};

/** `unset`: the pod does not say, and the runtime decides. */
export type Seccomp =
  | { readonly type: 'runtime-default' | 'unconfined' | 'unset' }
  | { readonly type: 'localhost'; readonly file: string };

export type AppArmor =
  | { readonly type: 'runtime-default' | 'unconfined' }
  | { readonly type: 'localhost'; readonly profile: string };

export interface SelinuxOptions {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  readonly level: string;
}

export interface ContainerSecurity {
  readonly privileged: boolean;
  readonly runAsUser: number | undefined;
  /** A name, when the image has one and the pod says no number. */
  readonly runAsUsername: string | undefined;
  readonly runAsGroup: number | undefined;
  readonly supplementalGroups: readonly number[];
  /** True when the groups of the image's user are added. */
  readonly mergesImageGroups: boolean;
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly readOnlyRoot: boolean;
  readonly noNewPrivileges: boolean;
  readonly seccomp: Seccomp | undefined;
  readonly appArmor: AppArmor | undefined;
  readonly selinux: SelinuxOptions | undefined;
  /** Hidden paths, such as those in /proc; empty with procMount `Unmasked`. */
  readonly maskedPaths: readonly string[];
  readonly readOnlyPaths: readonly string[];
  readonly pid: 'container' | 'pod' | 'node' | { readonly containerId: string };
}
