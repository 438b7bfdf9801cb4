/** Contract between the node agent and a container runtime. Times are milliseconds since the epoch. */

import type { Duplex } from 'node:stream';
import type { CommandStreams } from '../../api/remote-command/command-channels.ts';
import type { ProcessStreams, TerminalSize } from '../../base/programs/process-streams.ts';
import type { PodNetwork } from '../../kinds/groups/core/node/pod-network.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { ContainerConfig, ContainerResources } from './container-config.ts';
import type { SandboxConfig } from './sandbox-config.ts';
import type { InterfaceUsage, Throttling } from './usage.ts';

export interface Runtime extends Containers {
  /** The value of `containerRuntimeVersion` in the node's status, for example `containerd://1.6.20`. */
  readonly version: string;
  readonly images: Images;
  /** Missing isolation of its containers, and why, as a sentence for the conditions of pods. Absent: none. */
  readonly limitation?: string | undefined;
  /** Where pods get their addresses from. Default: `cluster`. */
  readonly podNetwork?: PodNetwork | undefined;
  /** Handlers and their features, for the node's status. The default one has an empty name. Empty: the runtime does not say. */
  readonly handlers: readonly RuntimeHandler[];
  /** True when `supplementalGroupsPolicy` is honoured; undefined: the runtime does not say. */
  readonly supplementalGroupsPolicy: boolean | undefined;
  /** Why it cannot run this pod, as a sentence for an event; undefined if it can. Nothing is ever ignored silently. */
  rejection(pod: SeenPod): string | undefined;
  /** Lists requests of a pod that are ignored although the runtime runs it, each as part of a sentence. Absent: none. */
  readonly ignoredRequests?: ((pod: SeenPod) => readonly string[]) | undefined;
  /** Decides on a user namespace for a pod, and who maps the ids of its files; absent: `hostUsers: false` maps mounts. */
  readonly userNamespaceOf?: ((pod: SeenPod) => UserNamespaceMode) | undefined;
  health(): Promise<RuntimeHealth>;
  /** Calls the listener when something may have changed, with the sandbox if it is known. Returns how to stop that. */
  onChange(listener: (sandboxId: string | undefined) => void): () => void;
  /** Current resource usage of what runs. */
  usage(): Promise<readonly ContainerUsage[]>;
  /** That of sandboxes with everything in them, where they have cgroups. */
  podUsage?(): Promise<readonly ContainerUsage[]>;
  /** Disconnects; what runs goes on running. */
  close(): Promise<void>;
}

/** Handler that a RuntimeClass chooses by name. */
export interface RuntimeHandler {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeHealth {
  readonly isReady: boolean;
  readonly isNetworkReady: boolean;
  /** Why not, if one of them is false. */
  readonly message?: string;
}

/** Sandboxes and the containers in them. */
export interface Containers {
  /** Creates and starts a sandbox, and returns its id. */
  runSandbox(config: SandboxConfig): Promise<string>;
  /** Stops it with everything in it, and frees its network. */
  stopSandbox(id: string): Promise<void>;
  /** Removes it with its containers. */
  removeSandbox(id: string): Promise<void>;
  sandboxes(): Promise<readonly Sandbox[]>;
  /** Changes the limits of the cgroup around all containers of a pod, where the runtime makes one. */
  updateSandbox(id: string, resources: ContainerResources): Promise<void>;

  createContainer(sandboxId: string, config: ContainerConfig, sandbox: SandboxConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  /** Sends the stop signal, and kills it after the timeout. Resolves when it has ended. */
  stopContainer(id: string, timeoutSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  containers(): Promise<readonly Container[]>;
  /** Undefined if there is none (any more). */
  container(id: string): Promise<Container | undefined>;
  updateResources(id: string, resources: ContainerResources): Promise<void>;
  /** Opens the log file anew after it was moved away. */
  reopenLog(id: string): Promise<void>;

  /** Runs a command to its end. Output beyond `maxBytes` of each stream is dropped. */
  run(id: string, request: RunRequest): Promise<RunResult>;
  exec(id: string, request: ExecRequest): Promise<ProcessStreams>;
  attach(id: string, request: AttachRequest): Promise<ProcessStreams>;
  /** Connects to a TCP port on the loopback address inside the sandbox. */
  portForward(sandboxId: string, port: number): Promise<Duplex>;
}

export interface RunRequest {
  readonly command: readonly string[];
  /** Rejects with a RuntimeError of code `DeadlineExceeded` after that, and kills the command. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface AttachRequest extends CommandStreams {
  readonly size?: TerminalSize;
}

export interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

export interface Sandbox extends Pick<SandboxConfig, 'pod' | 'attempt' | 'labels' | 'annotations'> {
  readonly id: string;
  readonly isReady: boolean;
  readonly createdAt: number;
  /** Empty on the network of the node. The first one is `podIP`. */
  readonly addresses: readonly string[];
}

type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface Container
  extends Pick<ContainerConfig, 'name' | 'attempt' | 'image' | 'imageId' | 'labels' | 'annotations'> {
  readonly id: string;
  readonly sandboxId: string;
  readonly state: ContainerState;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly exitCode: number | undefined;
  /** As the runtime says it: `Completed`, `Error`, `OOMKilled`, `ContainerCannotRun`… */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Absolute path of its log. */
  readonly logPath: string;
  /** The resources that it has, if the runtime can tell. */
  readonly resources: ContainerResources | undefined;
}

export interface Image {
  readonly id: string;
  /** Names with a tag. */
  readonly tags: readonly string[];
  /** Names with a digest. */
  readonly digests: readonly string[];
  readonly bytes: number;
  /** The user of the image: a number, or a name when it is not one. Undefined: root. */
  readonly user: number | string | undefined;
  /** True when garbage collection leaves it alone. */
  readonly isPinned: boolean;
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
  /** A bearer token instead of a password. */
  readonly identityToken?: string;
  readonly registryToken?: string;
}

export interface Images {
  list(): Promise<readonly Image[]>;
  /** Finds an image by name or id; undefined if it is not on this node. */
  find(reference: string): Promise<Image | undefined>;
  /** Reports whether the image is a part of the node, which no registry has; absent: none is. */
  isBuiltIn?(reference: string): boolean;
  /** Returns the id. Rejects with a RuntimeError. */
  pull(reference: string, credentials: RegistryCredentials | undefined): Promise<string>;
  remove(id: string): Promise<void>;
  /** Loads an OCI or Docker archive, and returns the names of the images in it. */
  load(archive: string): Promise<readonly string[]>;
  /** Measures what images take on disk, and where that is. */
  usage(): Promise<{ readonly bytes: number; readonly directory: string }>;
}

export interface ContainerUsage {
  /** Id of a container or a sandbox. */
  readonly id: string;
  readonly time: number;
  /** Processor time since its start, in nanoseconds. */
  readonly cpuNanoseconds: number;
  /** Bytes. */
  readonly workingSet: number;
  readonly rss: number | undefined;
  /** Bytes of its writable layer, if the runtime can tell. */
  readonly writableBytes: number | undefined;
  /** Present where its processor time is limited, and the runtime can tell. */
  readonly throttling?: Throttling;
  /** Traffic of a sandbox with a network of its own. */
  readonly network?: readonly InterfaceUsage[];
}

/**
 * How a pod's ids differ from those of the node. `none`: not at all. `mapped-mounts`: the runtime maps them on every mount, so that
 * files have the same ids on disk as in the pod. `mapped-owners`: it cannot, so that files belong to the node's ids on disk.
 */
export type UserNamespaceMode = 'none' | 'mapped-mounts' | 'mapped-owners';
