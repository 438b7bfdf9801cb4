/** What a container has done so far, in the agent's own terms. Times are milliseconds since the epoch. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';

/** A pod as the server shows it. */
export type SeenPod = DeepReadonly<Pod>;
type PodSpec = SeenPod['spec'];
export type SeenContainer =
  | PodSpec['containers'][number]
  | NonNullable<PodSpec['initContainers']>[number]
  | NonNullable<PodSpec['ephemeralContainers']>[number];

/** `init` runs to its end before the next one starts; `sidecar` is an init container that goes on beside the others. */
export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral';

export interface Ended {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string | undefined;
  /** Absent for one that never started. */
  readonly startedAt?: number | undefined;
  readonly finishedAt: number;
  readonly id: string;
}

export type RunState =
  | { readonly type: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly type: 'running'; readonly since: number; readonly id: string }
  | ({ readonly type: 'ended' } & Ended);

export interface ContainerRun {
  readonly name: string;
  readonly role: Role;
  /** What it runs, which may be older than what the pod asks for. */
  readonly image: string;
  readonly imageID: string;
  readonly state: RunState;
  /** How it ended before it was started again. */
  readonly last: Ended | undefined;
  /** The true number. */
  readonly restarts: number;
  /** Of a container that runs: whether it answers. */
  readonly ready: boolean;
}

/** Whether an init container stands in nobody's way any more. */
export function isThrough({ role, state }: ContainerRun): boolean {
  if (role === 'sidecar') return state.type === 'running';
  return state.type === 'ended' && state.exitCode === 0;
}

/** Whether it has run, now or before. */
export function hasStarted({ state, last }: ContainerRun): boolean {
  return state.type !== 'waiting' || last !== undefined;
}

/** Whether it counts as ready: one that prepares the others is when it is done, one that only looks in never is. */
export function isReady(run: ContainerRun): boolean {
  if (run.role === 'ephemeral') return false;
  return run.role === 'init' ? isThrough(run) : run.state.type === 'running' && run.ready;
}
