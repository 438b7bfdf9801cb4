/** Actions of the agent on a pod. One that has begun is not planned again until it has ended. */
import type { Role } from '../container-run.ts';
import type { PodFailure, PodSize, Resources, Settled, StopCause } from './state.ts';

interface OfContainer {
  /** Its name, and its position in the state of the pod. */
  readonly container: string;
  readonly position: number;
}

export type Action =
  | { readonly type: 'prepare-volumes' }
  /** `size` is what the sandbox has when it is created. */
  | { readonly type: 'run-sandbox'; readonly attempt: number; readonly size: PodSize }
  /** Gives the cgroup of a sandbox other limits. */
  | { readonly type: 'resize-sandbox'; readonly id: string; readonly size: PodSize }
  /** Stops it with everything that still runs in it. */
  | { readonly type: 'stop-sandbox'; readonly id: string }
  | { readonly type: 'remove-sandbox'; readonly id: string }
  /** Looks for the image, and pulls it if its policy says so. */
  | (OfContainer & { readonly type: 'pull-image'; readonly image: string })
  /** Creates and starts it, and runs its postStart hook. */
  | (OfContainer & {
      readonly type: 'start-container';
      readonly attempt: number;
      readonly image: string;
      readonly imageId: string;
      readonly resources: Resources;
      readonly podResources: Resources;
    })
  /** Runs the preStop hook of a sidecar, whose turn to stop has not come. */
  | (OfContainer & { readonly type: 'pre-stop'; readonly id: string; readonly graceSeconds: number })
  /** Runs its preStop hook and stops it, all within the grace period. 0: kills it at once, without the hook. */
  | (OfContainer & {
      readonly type: 'stop-container';
      readonly id: string;
      readonly graceSeconds: number;
      /** When the grace period ends. */
      readonly by: number;
      readonly cause: StopCause;
      /** True when its hook was run before. */
      readonly isHookDone?: boolean;
    })
  | (OfContainer & { readonly type: 'remove-container'; readonly id: string; readonly keepsLog?: boolean })
  | (OfContainer & {
      readonly type: 'update-resources';
      readonly id: string;
      readonly resources: Resources;
      readonly podResources: Resources;
    })
  /** Unmounts the volumes. Nothing runs any more. */
  | { readonly type: 'release-volumes' }
  /** Removes the rest of what the pod had on the node: its directories and logs. */
  | { readonly type: 'clean-up' };

export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The container that it is about; undefined: the pod. */
  readonly container: { readonly name: string; readonly role: Role } | undefined;
}

export interface Plan {
  readonly actions: readonly Action[];
  readonly events: readonly PlannedEvent[];
  /** Decisions to remember; `begin` does that. */
  readonly decisions: readonly PodDecision[];
  /** When to plan again, if nothing happens before; undefined: only when something happens. */
  readonly nextAt: number | undefined;
  /** Nothing is left on the node. A deleted pod can be removed from the API. */
  readonly isFinished: boolean;
  readonly settled: Settled | undefined;
}

export type PodDecision =
  | { readonly type: 'fail'; readonly failure: PodFailure }
  | { readonly type: 'stop' }
  | { readonly type: 'end'; readonly phase: 'Succeeded' | 'Failed' }
  /** All containers are removed, and start over; the exits of the sources have caused it. */
  | { readonly type: 'restart-all'; readonly sources: ReadonlySet<number> }
  /** All of them are removed. */
  | { readonly type: 'start-over' }
  /** An event about this back-off was emitted. */
  | { readonly type: 'announce'; readonly position: number; readonly until: number };

/** How an action ended. */
export type ActionOutcome =
  | { readonly type: 'done'; readonly imageId?: string }
  | {
      readonly type: 'failed';
      /** In the words of a container's state: `ErrImagePull`, `CreateContainerError`… Empty for other actions. */
      readonly reason: string;
      readonly message: string;
    };
