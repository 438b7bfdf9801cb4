/** Rates from samples: processors are counted from the start of a container, and a rate needs two counts. */
import type { ContainerUsage } from '../../runtime/runtime.ts';
import type { MachineUsage } from '../observe.ts';

interface Pair<T> {
  readonly current: T;
  /** The one before, at least `MIN_WINDOW_MS` older. */
  readonly previous: T | undefined;
}

/** Samples of a node's use of resources. */
export interface Samples {
  readonly node: Pair<MachineUsage> | undefined;
  /** Samples by id, also of sandboxes. */
  readonly containers: ReadonlyMap<string, Pair<ContainerUsage>>;
}

export const NO_SAMPLES: Samples = { node: undefined, containers: new Map() };

/** Rates over shorter times say little. */
const MIN_WINDOW_MS = 1000;

/** Adds a sample of everything, and forgets containers that are not in it. */
export function addSamples(before: Samples, node: MachineUsage, containers: readonly ContainerUsage[]): Samples {
  return {
    node: paired(before.node, node),
    containers: new Map(containers.map((usage) => [usage.id, paired(before.containers.get(usage.id), usage)])),
  };
}

interface Counted {
  readonly time: number;
  readonly cpuNanoseconds: number;
}

function paired<T extends Counted>(before: Pair<T> | undefined, current: T): Pair<T> {
  if (!before) return { current, previous: undefined };
  // A container that was started again counts from zero.
  if (current.cpuNanoseconds < before.current.cpuNanoseconds) return { current, previous: undefined };
  const isFar = current.time - before.current.time >= MIN_WINDOW_MS;
  return { current, previous: isFar ? before.current : before.previous };
}

/** Undefined until there are two samples. */
export function nanocoresOf({ current, previous }: Pair<Counted>): number | undefined {
  if (!previous || current.time <= previous.time) return undefined;
  const seconds = (current.time - previous.time) / 1000;
  return Math.round((current.cpuNanoseconds - previous.cpuNanoseconds) / seconds);
}
