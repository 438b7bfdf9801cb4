/** What is known about a pod on its node: what the runtime reports, and what the agent remembers about its own attempts. */
import type { Condition } from '../conditions.ts';
import type { Role } from '../container-run.ts';

/** Times are milliseconds since the epoch. */
export interface PodState {
  /** When the agent first saw the pod. */
  readonly startTime: number;
  /** Newest first. */
  readonly sandboxes: readonly SandboxState[];
  /** All containers that still exist, the newest attempt of a name first. */
  readonly containers: readonly ContainerRecord[];
  /** By container name: results of what was tried. A container that nothing was tried for has none. */
  readonly memory: ReadonlyMap<string, ContainerMemory>;
  readonly volumes: StepState;
  readonly sandbox: StepState;
  /** Actions that were started and have not ended; none of them is planned again meanwhile. */
  readonly pending: ReadonlySet<string>;
  /** Why the pod is to end: eviction, its deadline, refused admission. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
  readonly conditions: readonly Condition[];
}

export interface SandboxState {
  readonly id: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdAt: number;
  readonly addresses: readonly string[];
}

/** How a step that is tried again after a back-off stands. */
export type StepState =
  | { readonly type: 'to-do' }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string; readonly failures: number; readonly retryAt: number };

export interface ContainerRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly image: string;
  readonly imageId: string;
}

/** What the agent remembers about a container, besides what the runtime reports. */
export interface ContainerMemory {
  /** How often it was restarted, not capped. */
  readonly restarts: number;
  /** The image of the next start: present, or why not. */
  readonly image: StepState & { readonly id?: string };
  /** Whether creating or starting it failed, and with which reason: `CreateContainerConfigError`, `RunContainerError`… */
  readonly start: StepState & { readonly reason?: string };
  /** Results of its probes while it runs; undefined: not known yet, or no such probe. */
  readonly started: boolean | undefined;
  readonly ready: boolean | undefined;
  readonly live: boolean | undefined;
  /** When and how it ended last, after its record was removed. */
  readonly lastExit: ContainerRecord | undefined;
}
