/**
 * State of a pod on its node: what the runtime reports, and what the agent remembers about its own attempts. The
 * executor owns it and changes it only through `record.ts` and `adopt.ts`; the plan only reads it. Times are milliseconds
 * since the epoch.
 */

import type { ContainerResources } from '../../runtime/container-config.ts';
import type { Container, Sandbox } from '../../runtime/runtime.ts';
import type { Role, SeenContainer, SeenPod, Termination } from '../container-run.ts';
import type { Phase } from '../phase.ts';

/** How a step stands that is tried again after a failure. */
export type StepState =
  | { readonly type: 'to-do' }
  | { readonly type: 'doing'; readonly since: number; readonly failures: number }
  | { readonly type: 'done' }
  | {
      readonly type: 'failed';
      /** In the words of a container's state (`ErrImagePull`, `CreateContainerConfigError`…); empty for other steps. */
      readonly reason: string;
      readonly message: string;
      /** Failures in a row. */
      readonly failures: number;
      readonly failedAt: number;
      readonly retryAt: number;
    };

export type SandboxRecord = Pick<Sandbox, 'id' | 'attempt' | 'isReady' | 'createdAt' | 'addresses'>;

export interface SandboxState extends SandboxRecord {
  stop: StepState;
  removal: StepState;
}

/** A container as the runtime reports it. */
export interface ContainerRecord
  extends Omit<Container, 'createdAt' | 'labels' | 'annotations' | 'logPath' | 'resources'> {
  /** The value of `containerID` in the status: `containerd://…`. */
  readonly statusId: string;
}

/** Why a container is stopped. `ended`: a sidecar or ephemeral container whose pod has ended. */
export type StopCause =
  | 'deleted'
  | 'failed'
  | 'ended'
  | 'sandbox'
  | 'image'
  | 'resources'
  | 'liveness'
  | 'startup'
  /** Another container has restarted all of them. */
  | 'restart-all'
  | 'unknown';

/** A stop that was asked for. */
interface StopState {
  readonly id: string;
  readonly cause: StopCause;
  /** When the grace period ends. */
  readonly by: number;
  readonly step: StepState;
}

export type Resources = SeenContainer['resources'] | undefined;

/** The resources that a container was started or updated with: its own, and those of its pod, which limit it where it has none. */
interface AppliedResources {
  readonly own: Resources;
  readonly ofPod: Resources;
}

/** Resources that a pod may use as a whole. */
export interface PodSize {
  /** The pod-level resources of its spec. */
  readonly resources: Resources;
  /** The values of the cgroup around its containers. */
  readonly cgroup: ContainerResources;
}

/** One container of the pod's spec. */
export interface ContainerState {
  readonly name: string;
  readonly role: Role;
  /** Its position in `PodState.containers`. */
  readonly position: number;
  /** Existing records of the container, the newest attempt first. */
  records: readonly ContainerRecord[];
  /** How it ended last, when its record is gone. */
  lastExit: Termination | undefined;
  /** How often it was restarted, not capped; kept when records are gone. */
  restarts: number;
  /** Restarts in a row that each ran shorter than ten minutes. They determine the back-off. */
  crashes: number;
  /** The image of the next start, and the name that the step is about. */
  image: StepState;
  imageName: string;
  imageId: string;
  /** The image of its newest start, in the words of the status; kept when records are gone. */
  ranImage: string;
  ranImageId: string;
  /** The next start. `failed`: creating or starting it failed the last time. */
  start: StepState;
  /** The attempt that `start` is about. */
  startAttempt: number;
  /** The stop of its newest record; kept after that has ended, until the next start. */
  stop: StopState | undefined;
  /** The preStop hook of a sidecar that ends with its pod, which runs before it is asked to stop. */
  preStop: { readonly id: string; readonly step: StepState } | undefined;
  /** IDs of records whose removal is under way. */
  removals: readonly string[];
  update: StepState;
  /** Results of its probes since it started; undefined: none yet, or no such probe. */
  started: boolean | undefined;
  ready: boolean | undefined;
  live: boolean | undefined;
  /**
   * Set when all containers of the pod are restarted: it starts, whatever its policy. The source, whose exit has caused it,
   * has its back-off.
   */
  reset: 'source' | 'target' | undefined;
  /** The end of the back-off that an event was emitted for. */
  announced: number | undefined;
  /** Undefined: those of the spec. */
  applied: AppliedResources | undefined;
}

/** Why the pod ends as a whole. */
export interface PodFailure {
  readonly reason: string;
  readonly message: string;
  /** The grace period of its containers; absent: that of the pod. */
  readonly graceSeconds?: number;
  /** The message of the condition `DisruptionTarget`, for a pod that ends for the sake of the node. */
  readonly disruption?: string;
  /** True when the node rejected the pod before anything was started. */
  readonly isRejection?: boolean;
}

/** Why a resize waits: the node has no room now, or can never have it. */
interface ResizeRejection {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  /** The generation of the pod that this is about. */
  readonly generation: number;
}

export interface PodState {
  /** When the agent first saw the pod. */
  startTime: number;
  /** Newest first. */
  sandboxes: readonly SandboxState[];
  /** In the order of the pod's spec: init containers, main containers, ephemeral containers. */
  containers: readonly ContainerState[];
  volumes: StepState;
  /** The creation of a sandbox. */
  sandbox: StepState;
  /** The size of its sandbox, and the step to another one. */
  size: PodSize;
  resizing: StepState;
  release: StepState;
  cleanUp: StepState;
  /** The address of its last sandbox, which an ended pod keeps in its status. */
  addresses: readonly string[];
  /** Set by the plan (deadline) or from outside (eviction, rejected admission). */
  failure: PodFailure | undefined;
  /** When its containers were asked to stop for good. */
  stopRequestedAt: number | undefined;
  /** Set when the pod has ended; it is final. */
  endPhase: Phase | undefined;
  endedAt: number | undefined;
  /** True while all containers are being removed, to start over. */
  isRestartingAll: boolean;
  /** True when the object is gone from the API, and the rest on the node is to be stopped and removed. */
  isRemoved: boolean;
  resizeRejection: ResizeRejection | undefined;
  /** The spec whose resources the node has admitted: while a resize is rejected, the one before. */
  admitted: SeenPod['spec'];
  /** The furthest container, in the order of the spec, that was started in a sandbox: what comes before it is initialized. */
  furthest: { readonly sandboxId: string; readonly position: number } | undefined;
  /** Containers that need no second look, so that a pod of thousands is not gone through for each of them. */
  settled: Settled | undefined;
  /** Counts what happened, so that a listing of the runtime that was begun before is recognized as stale. */
  revision: number;
}

/** Set by `begin`, and lowered by everything that changes a container. */
export interface Settled {
  /** Inputs that the plan was made for; it holds for these alone. */
  readonly pod: SeenPod;
  readonly now: number;
  /** Containers before this position want nothing, and hold nothing back. */
  readonly before: number;
  /** When one of these is to be looked at again. */
  readonly nextAt: number | undefined;
  /** While the pod ends: nothing runs of the containers from this position on, nor of any that is no sidecar. */
  readonly stoppedFrom: number | undefined;
}

export const TO_DO: StepState = Object.freeze({ type: 'to-do' });
export const DONE: StepState = Object.freeze({ type: 'done' });
