/** Which nodes run in the process of a cluster. */
import type { SimulatedNodesOptions } from '../../node/simulated/simulated.ts';
import type { RealRuntime } from '../node/open-runtime.ts';

export interface NodePlan extends Pick<SimulatedNodesOptions, 'names' | 'clusterCidr' | 'rules'> {
  readonly runtime: RealRuntime | 'simulated';
  /** Why it was chosen, as part of a sentence; undefined: it was asked for. */
  readonly why?: string | undefined;
}

/** Reports whether nodes of this process run pods that may have a network of their own. */
export function hasRealPods({ runtime, names }: Pick<NodePlan, 'runtime' | 'names'>): boolean {
  return runtime !== 'simulated' && names.length > 0;
}

/** The range that the controllers divide among nodes; undefined: the nodes bring their own ranges, as simulated ones do. */
export function dividedRange({ runtime, names, clusterCidr }: NodePlan): string | undefined {
  return runtime === 'simulated' && names.length > 0 ? undefined : clusterCidr;
}
