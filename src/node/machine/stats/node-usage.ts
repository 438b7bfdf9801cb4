/** Usage for `metrics.k8s.io`. */
import type { PodStats } from './running-pods.ts';
import { nanocoresOf, type Samples } from './samples.ts';

interface Usage {
  /** In nanocores. */
  readonly cpu: number;
  /** The working set, in bytes. */
  readonly memory: number;
}

/** Usage that the server asks an agent for. */
export interface NodeUsage {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The length of the measured interval, in milliseconds. */
  readonly window: number;
  readonly node: Usage;
  readonly pods: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly containers: readonly (Usage & { readonly name: string })[];
  }[];
}

/** Undefined until there are two samples. A pod is left out until all its containers have two. */
export function nodeUsage(samples: Samples, pods: readonly PodStats[]): NodeUsage | undefined {
  const { node } = samples;
  const cpu = node && nanocoresOf(node);
  if (!node?.previous || cpu === undefined) return undefined;
  const { current, previous } = node;
  return {
    time: current.time,
    window: current.time - previous.time,
    node: { cpu, memory: current.memory.workingSetBytes },
    pods: pods.flatMap(({ namespace, name, containers }) => {
      const known = containers.flatMap(({ name: container, usage, nanocores }) =>
        nanocores === undefined ? [] : [{ name: container, cpu: nanocores, memory: usage.workingSet }],
      );
      return known.length === containers.length ? [{ namespace, name, containers: known }] : [];
    }),
  };
}
