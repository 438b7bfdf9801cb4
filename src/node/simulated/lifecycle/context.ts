/** Dependencies of the simulation of a pod, and the events it emits. */
import type { Random } from '../../../base/random.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PlannedEvent } from '../../pod/plan/action.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

export interface LifecycleContext {
  readonly now: number;
  readonly random: Random;
  /** Allocates an address for the pod, or returns the node's for a pod on the host network; undefined when none is left. */
  readonly takeAddress: (pod: SeenPod) => string | undefined;
  readonly emit: (life: PodLife, event: LifecycleEvent) => void;
}

/** Events that a kubelet records: of the plan, and of what the simulated runtime does. */
export type LifecycleEvent =
  | { readonly type: 'planned'; readonly event: PlannedEvent }
  | { readonly type: 'noAddress' }
  | { readonly type: 'probeFailed'; readonly probe: 'Liveness' | 'Readiness'; readonly run: SimulatedRun }
  /** `took`: how long the pull took, in milliseconds; undefined when the image was present. */
  | { readonly type: 'pulled'; readonly took: number | undefined; readonly run: SimulatedRun }
  | {
      readonly type: 'pulling' | 'pullFailed' | 'neverPulled' | 'invalidImage' | 'created' | 'started';
      readonly run: SimulatedRun;
    };
