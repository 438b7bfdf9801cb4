/** Decides about changed resources of a pod that runs: they are allocated, or the resize waits. Says how it goes in events. */
import { deepEqual } from '../../../base/json/tree.ts';
import type { Rejection } from '../../admission/rejection.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PlannedEvent } from '../../pod/plan/action.ts';
import { isResized, resizeError } from '../../pod/plan/resize.ts';
import type { PodState } from '../../pod/plan/state.ts';

export interface ResizesOptions {
  /** Why the node has no room for the pod as its spec is now. */
  readonly admit: (pod: SeenPod) => Promise<Rejection | undefined>;
  readonly emit: (event: PlannedEvent) => void;
  /** Called when a resize is done, which may have freed something. */
  readonly onDone: () => void;
}

export class Resizes {
  /** The generation whose resources are allocated, while they are being applied. */
  #started: number | undefined;
  #error: string | undefined;

  constructor(private readonly options: ResizesOptions) {}

  /** Is called before the pod is planned: a plan applies what is not rejected. */
  async decide(pod: SeenPod, state: PodState): Promise<void> {
    const { generation = 0 } = pod.metadata;
    if (state.endPhase || !isResized(pod, state)) {
      if (this.#started !== undefined) this.#complete(pod, generation);
      admit(pod, state);
      return;
    }
    if (this.#started === generation) {
      this.#reportError(pod, state);
      return;
    }
    const rejection = await this.options.admit(pod);
    if (!rejection) {
      admit(pod, state);
      this.#started = generation;
      this.#error = undefined;
      this.#event('Normal', 'ResizeStarted', `Pod resize started: ${summary(pod)}`);
      return;
    }
    const reason = rejection.reason === 'Infeasible' ? 'Infeasible' : 'Deferred';
    const known = state.resizeRejection;
    state.resizeRejection = { reason, message: rejection.message, generation };
    if (known?.reason === reason && known.generation === generation) return;
    this.#event('Warning', `Resize${reason}`, `Pod resize ${rejection.reason}: ${summary(pod, rejection.message)}`);
  }

  #complete(pod: SeenPod, generation: number): void {
    const isDone = this.#started === generation;
    this.#started = undefined;
    this.#error = undefined;
    if (isDone) this.#event('Normal', 'ResizeCompleted', `Pod resize completed: ${summary(pod)}`);
    this.options.onDone();
  }

  #reportError(pod: SeenPod, state: PodState): void {
    const error = resizeError(state);
    if (error !== undefined && error !== this.#error) {
      this.#event('Warning', 'ResizeError', `Pod resize error: ${summary(pod, error)}`);
    }
    this.#error = error;
  }

  #event(type: PlannedEvent['type'], reason: string, message: string): void {
    this.options.emit({ type, reason, message, container: undefined });
  }
}

function admit({ spec }: SeenPod, state: PodState): void {
  state.resizeRejection = undefined;
  state.admitted = spec;
}

/** Describes the wanted resources of the pod, as kubelet writes them in events. */
function summary({ metadata: { generation = 0 }, spec }: SeenPod, error?: string): string {
  const of = (list: readonly { readonly name: string; readonly resources?: object }[]) =>
    list.map(({ name, resources = {} }) => ({ name, resources: deepEqual(resources, {}) ? undefined : resources }));
  return JSON.stringify({
    initContainers: spec.initContainers?.length ? of(spec.initContainers) : undefined,
    containers: of(spec.containers),
    generation,
    error: error || undefined,
  });
}
