/** Past and present states of a container. Times are milliseconds since the epoch. */
import type { SeenPod } from '../../api/seen-objects.ts';

export type { SeenPod };

type PodSpec = SeenPod['spec'];
export type SeenContainer =
  | PodSpec['containers'][number]
  | NonNullable<PodSpec['initContainers']>[number]
  | NonNullable<PodSpec['ephemeralContainers']>[number];

/** `init` runs to completion before the next container starts; `sidecar` is an init container that keeps running. */
export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral';

export interface Termination {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string | undefined;
  /** Absent when the container never started. */
  readonly startedAt?: number | undefined;
  readonly finishedAt: number;
  readonly id: string;
}

export type RunState =
  | { readonly type: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly type: 'running'; readonly since: number; readonly id: string }
  | ({ readonly type: 'ended' } & Termination);

export interface ContainerRun {
  readonly name: string;
  readonly role: Role;
  /** The running image, which may be older than the one in the pod's spec. */
  readonly image: string;
  readonly imageID: string;
  readonly state: RunState;
  /** The previous termination, before the last restart. */
  readonly last: Termination | undefined;
  /** Not capped, unlike `restartCount` in the status. */
  readonly restarts: number;
  /** For a running container: whether its readiness probe passes. */
  readonly ready: boolean;
  /** For a running container: whether its startup probe has passed. Absent: it has none. */
  readonly started?: boolean;
  /** The resources that it has. Absent: those of the spec. */
  readonly actual?: SeenContainer['resources'] | undefined;
  /** True when the node has no room for the resources of the spec. */
  readonly isResizeRejected?: boolean;
}

/** Reports whether an init container no longer blocks the containers after it. */
export function isDone({ role, state, started }: ContainerRun): boolean {
  if (role === 'sidecar') return state.type === 'running' && started !== false;
  return state.type === 'ended' && state.exitCode === 0;
}

/** Reports whether the container is running or has run before. */
export function hasStarted({ state, last }: ContainerRun): boolean {
  return state.type !== 'waiting' || last !== undefined;
}

/** Reports whether it counts as ready: an init container when it is done, an ephemeral container never. */
export function isReady(run: ContainerRun): boolean {
  if (run.role === 'ephemeral') return false;
  return run.role === 'init' ? isDone(run) : run.state.type === 'running' && run.ready;
}
