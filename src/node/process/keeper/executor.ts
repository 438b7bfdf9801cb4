import type { CommandStreams } from '../../../api/remote-command/command-channels.ts';
import type { ProcessStreams, TerminalSize } from '../../../base/programs/process-streams.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import type { ProcessIdentity } from '../oci/identity.ts';
import type { SandboxFiles } from '../oci/input.ts';
import type { ContainerRecord } from './container-record.ts';
import type { Launch } from './supervisor/supervisor.ts';

export interface Executor {
  /** Prepares the namespaces of a sandbox; undefined: it has none of its own. */
  hold(sandbox: SandboxToHold): Promise<Holder | undefined>;
  /** Removes what `hold` has made, after its process has ended. Idempotent. */
  release(sandbox: SandboxToHold): Promise<void>;
  /** Prepares a container, and says how its supervisor is started. */
  prepare(container: ContainerToStart): Launch;
  /** Removes what is left of a container whose supervisor has ended. Idempotent. */
  cleanUp(container: Pick<ContainerToStart, 'record' | 'directory'>): Promise<void>;
  /** Starts a further command in a container that runs. Rejects with a RuntimeError when it cannot be started. */
  exec(container: ContainerToStart, request: CommandRequest): Promise<Command>;
  /** Ends and removes what it has under the name of the keeper, except for these sandboxes and containers. */
  removeUnknown(known: ReadonlySet<string>): Promise<void>;
  /** Removes what all sandboxes shared. */
  removeAll(): Promise<void>;
}

export interface SandboxToHold {
  readonly id: string;
  readonly directory: string;
  readonly config: SandboxConfig;
  readonly cgroup: string;
}

/** Holder of the namespaces of a sandbox. */
export interface Holder {
  /** A process that lives as long as they do; undefined: they stay until they are removed. */
  readonly pid: number | undefined;
  /** A directory with files that stand for them, named as in `/proc/PID/ns`; undefined: there is none but `netns`. */
  readonly namespaces: string | undefined;
  /** A file that stands for the network namespace; undefined: that of the node. */
  readonly netns: string | undefined;
}

export interface ContainerToStart {
  readonly record: ContainerRecord;
  readonly directory: string;
  readonly identity: ProcessIdentity;
  readonly sandbox: {
    readonly config: SandboxConfig;
    readonly holder: Holder | undefined;
    readonly files: SandboxFiles;
  };
  /** The first process of the container whose processes this one sees. */
  readonly processTarget: number | undefined;
}

export interface CommandRequest extends CommandStreams {
  readonly command: readonly string[];
  /** Scratch directory of this command, removed when it has ended. */
  readonly directory: string;
  readonly size: TerminalSize | undefined;
}

/** A command that runs, with its standard streams. */
export interface Command extends Pick<ProcessStreams, 'stdin' | 'stdout' | 'stderr'> {
  /** Resolves when its process has ended. */
  readonly exitCode: Promise<number>;
  resize(columns: number, rows: number): void;
  /** Kills it, with what it has started. */
  kill(): void;
}
