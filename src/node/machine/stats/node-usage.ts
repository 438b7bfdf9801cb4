/** Usage for `metrics.k8s.io`. */
import type { NodeUsage } from '../../../api/node-usage.ts';
import type { PodStats } from './running-pods.ts';
import { nanocoresOf, type Samples } from './samples.ts';

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
