/** Runs the probes of what runs of a pod, and writes their results into its state. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { PlannedEvent } from '../../pod/plan/action.ts';
import { touch } from '../../pod/plan/record.ts';
import type { ContainerState, PodState } from '../../pod/plan/state.ts';
import { ContainerProbes, hasProbes, type ProbeCount, type ProbeResults } from '../../probes/container-probes.ts';
import { containerNamed, type SpecContainer } from '../actions/containers.ts';
import { type ActionContext, probedPod } from '../actions/context.ts';

export interface PodProbesOptions {
  readonly context: ActionContext;
  readonly emit: (event: PlannedEvent) => void;
  /** Called when a result has changed. */
  readonly wake: () => void;
}

interface Running {
  /** The container that is probed. */
  readonly id: string;
  readonly probes: ContainerProbes;
}

export class PodProbes {
  readonly #running = new Map<string, Running>();

  constructor(private readonly options: PodProbesOptions) {}

  /** Begins to probe what has started, and ends to probe what has ended. */
  follow(pod: SeenPod, state: PodState): void {
    for (const each of state.containers) this.#followContainer(pod, state, each);
    if (state.stopRequestedAt !== undefined) for (const { probes } of this.#running.values()) probes.end();
  }

  /** Results of the probes of running containers. */
  counts(): readonly (ProbeCount & { readonly container: string })[] {
    return [...this.#running].flatMap(([container, { probes }]) =>
      probes.counts.map((count) => ({ ...count, container })),
    );
  }

  stop(): void {
    for (const { probes } of this.#running.values()) probes.stop();
    this.#running.clear();
  }

  #followContainer(pod: SeenPod, state: PodState, each: ContainerState): void {
    const newest = each.records[0];
    const isRunning = newest?.state === 'running' && each.start.type !== 'doing';
    const known = this.#running.get(each.name);
    if (known && (!isRunning || known.id !== newest.id)) {
      known.probes.stop();
      this.#running.delete(each.name);
    }
    if (!isRunning || this.#running.has(each.name)) return;
    const spec = containerNamed(pod, each.name);
    if (!spec || spec.role === 'init' || spec.role === 'ephemeral' || !hasProbes(spec.container)) return;
    const probes = this.#start(pod, state, { each, spec, id: newest.id, startedAt: newest.startedAt });
    this.#running.set(each.name, { id: newest.id, probes });
  }

  #start(
    pod: SeenPod,
    state: PodState,
    started: {
      readonly each: ContainerState;
      readonly spec: SpecContainer;
      readonly id: string;
      readonly startedAt: number | undefined;
    },
  ): ContainerProbes {
    const { context, emit, wake } = this.options;
    const { runtime, clock, userAgent } = context;
    const { each, spec, id, startedAt = clock.now() } = started;
    const { name } = spec.container;
    return new ContainerProbes({
      runtime,
      clock,
      userAgent,
      id,
      startedAt,
      container: spec.container,
      reported: { started: each.started, ready: each.ready },
      ...probedPod(context, { pod, state }),
      onChange: (results) => {
        apply(each, results);
        touch(state, each);
        wake();
      },
      onEvent: (reason, message) => emit({ type: 'Warning', reason, message, container: { name, role: spec.role } }),
    });
  }
}

function apply(state: ContainerState, { started, ready, live }: ProbeResults): void {
  state.started = started;
  state.ready = ready;
  state.live = live;
}
