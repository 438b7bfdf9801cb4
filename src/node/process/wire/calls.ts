/** The calls that the keeper answers, and what the two sides send each other. */

import type { TerminalSize } from '../../../base/programs/process-streams.ts';
import type { KeyedSocketNames } from '../../../base/sockets/keyed-socket/keyed-socket.ts';
import type { ImageConfig } from '../../images/image-config.ts';
import type { ContainerConfig, ContainerResources } from '../../runtime/container-config.ts';
import type { RuntimeErrorCode } from '../../runtime/errors.ts';
import type { AttachRequest, Container, ContainerUsage, ExecRequest, Sandbox } from '../../runtime/runtime.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { UserFiles } from '../oci/identity.ts';

/** A keeper that speaks another version is replaced; what it keeps goes on. */
export const PROTOCOL_VERSION = 6;

/** The key is made anew by every keeper. */
export const keeperSocket = (directory: string): KeyedSocketNames => ({
  directory,
  socket: 'keeper.sock',
  key: 'keeper.key',
});

/** The image of a container, with its files on this node. */
export interface ResolvedImage {
  /** `/` for the files of the node. */
  readonly directory: string;
  /** Directories that are mounted above each other as the root of the container, the uppermost first; empty for the node's. */
  readonly layers: readonly string[];
  /** Paths of the node that its containers do not see. */
  readonly hidden: readonly string[];
  readonly config: ImageConfig;
  readonly users: UserFiles;
  /** Paths of the images that are mounted, or of parts of them, by `mountedKey`. */
  readonly mounted: Readonly<Record<string, string>>;
}

/** Abilities of the keeper on this machine. */
export interface KeeperFacts {
  readonly protocol: number;
  readonly pid: number;
  readonly name: string;
  readonly podCidr: string;
  /** `oci`: pods are containers of an OCI runtime. `plain`: they are processes of one user who is not root. */
  readonly executor: 'oci' | 'plain';
  /** The path of the OCI runtime. */
  readonly runtime: string | undefined;
  readonly hasUserNamespaces: boolean;
  /** Reason why containers, or user namespaces, are not available. */
  readonly whyNotIsolated: string | undefined;
  readonly hasNetwork: boolean;
  readonly whyNoNetwork: string | undefined;
  /** Gap in the protection of pods in their network, as a sentence. */
  readonly networkLimitation: string | undefined;
  readonly hasHostPorts: boolean;
  /** Resources that cgroups can limit. */
  readonly limits: readonly ('cpu' | 'memory' | 'pids')[];
  /** Why it is not everything, as part of a sentence. */
  readonly whyUnlimited: string;
  /** The user of plain processes; undefined for containers. */
  readonly plain: PlainUser | undefined;
  readonly hasTerminals: boolean;
  readonly hasSelinux: boolean;
}

export interface PlainUser {
  readonly uid: number;
  readonly gid: number;
  /** True when processes can be kept from gaining privileges (no_new_privs). */
  readonly hasNoNewPrivileges: boolean;
  /** True when processes have none of the capabilities that can be dropped. */
  readonly hasNoCapabilities: boolean;
}

export interface KeeperCalls {
  facts(params: object): Promise<KeeperFacts>;
  runSandbox(params: { config: SandboxConfig }): Promise<string>;
  stopSandbox(params: { id: string }): Promise<void>;
  removeSandbox(params: { id: string }): Promise<void>;
  sandboxes(params: object): Promise<readonly Sandbox[]>;
  createContainer(params: { sandboxId: string; config: ContainerConfig; image: ResolvedImage }): Promise<string>;
  startContainer(params: { id: string }): Promise<void>;
  stopContainer(params: { id: string; timeoutSeconds: number }): Promise<void>;
  removeContainer(params: { id: string }): Promise<void>;
  containers(params: object): Promise<readonly Container[]>;
  container(params: { id: string }): Promise<Container | undefined>;
  updateSandbox(params: { id: string; resources: ContainerResources }): Promise<void>;
  updateResources(params: { id: string; resources: ContainerResources }): Promise<void>;
  reopenLog(params: { id: string }): Promise<void>;
  exec(params: { stream: string; id: string; request: ExecRequest }): Promise<void>;
  attach(params: { stream: string; id: string; request: AttachRequest }): Promise<void>;
  portForward(params: { stream: string; sandboxId: string; port: number }): Promise<void>;
  resize(params: { stream: string; size: TerminalSize }): Promise<void>;
  closeStream(params: { stream: string }): Promise<void>;
  usage(params: object): Promise<readonly ContainerUsage[]>;
  podUsage(params: object): Promise<readonly ContainerUsage[]>;
  /** Ends the keeper; what it keeps goes on. */
  quit(params: object): Promise<void>;
}

/** Events that the keeper sends on the control connection. */
export type KeeperEvent =
  | { readonly type: 'changed'; readonly sandboxId: string | undefined }
  /** A stream has ended, with the exit code of its process or an error. */
  | { readonly type: 'ended'; readonly stream: string; readonly exitCode?: number; readonly error?: CallError };

interface CallError {
  readonly code: RuntimeErrorCode;
  readonly message: string;
}

export type StreamName = 'stdin' | 'stdout' | 'stderr' | 'data';

/** The first line of a connection, besides the key. */
export type Opening =
  | { readonly type: 'control' }
  | { readonly type: 'stream'; readonly stream: string; readonly name: StreamName };
