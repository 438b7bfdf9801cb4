/** Counters of an agent since its start, for `/metrics`. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { Role } from '../pod/container-run.ts';
import type { ContainerState } from '../pod/plan/state.ts';

type CounterName =
  | 'startedContainers'
  | 'startedContainerErrors'
  | 'startedPods'
  | 'startedPodErrors'
  | 'terminatedContainers';

interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
}

const CONTAINER_TYPES: Readonly<Record<Role, string>> = {
  main: 'container',
  init: 'init_container',
  sidecar: 'init_container',
  ephemeral: 'ephemeral_container',
};

export class AgentCounters {
  /** Counters by name, and then by labels. */
  readonly #counters = new Map<CounterName, Map<string, Counted>>();

  /** A pod was to get a sandbox. */
  podStarted(isDone: boolean): void {
    this.#add('startedPods', {});
    if (!isDone) this.#add('startedPodErrors', {});
  }

  /** A container was to be started. `problem`: why it was not. */
  containerStarted(role: Role, problem: string | undefined): void {
    this.#add('startedContainers', { container_type: CONTAINER_TYPES[role] });
    if (problem === undefined) return;
    this.#add('startedContainerErrors', { code: problem, container_type: CONTAINER_TYPES[role] });
  }

  /** Counts containers that have ended. `known`: the IDs of those that are counted; it is brought up to date. */
  containersEnded(containers: readonly ContainerState[], known: Set<string>): void {
    const present = new Set<string>();
    for (const { role, records } of containers) {
      for (const { id, state, exitCode } of records) {
        if (state !== 'exited') continue;
        present.add(id);
        if (known.has(id)) continue;
        this.#add('terminatedContainers', {
          container_type: CONTAINER_TYPES[role],
          exit_code: String(exitCode ?? 0),
        });
      }
    }
    for (const id of known) if (!present.has(id)) known.delete(id);
    for (const id of present) known.add(id);
  }

  samples(name: CounterName): readonly Counted[] {
    return [...(this.#counters.get(name)?.values() ?? [])];
  }

  #add(name: CounterName, labels: Counted['labels']): void {
    const counters = getOrInsert(this.#counters, name, () => new Map<string, Counted>());
    const key = Object.values(labels).join(' ');
    const counted = counters.get(key);
    if (counted) counted.value++;
    else counters.set(key, { labels, value: 1 });
  }
}
