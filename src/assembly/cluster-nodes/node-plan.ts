/** Which nodes run in the process of a cluster. */
import type { Rules } from '../../node/simulated/rules/rules.ts';
import type { RealRuntime } from '../node/open-runtime.ts';

export interface NodePlan {
  readonly runtime: RealRuntime | 'simulated';
  /** Why it was chosen, as part of a sentence; undefined: it was asked for. */
  readonly why?: string | undefined;
  /** In order; may be empty. */
  readonly names: readonly string[];
  /** Divided among the nodes for their pods. */
  readonly clusterCidr: string;
  /** Rules of simulated nodes. */
  readonly rules: Rules;
}

/** Reports whether nodes of this process run pods that may have a network of their own. */
export function hasRealPods({ runtime, names }: Pick<NodePlan, 'runtime' | 'names'>): boolean {
  return runtime !== 'simulated' && names.length > 0;
}

/** The range that the controllers divide among nodes; undefined: the nodes bring their own ranges, as simulated ones do. */
export function dividedRange({ runtime, names, clusterCidr }: NodePlan): string | undefined {
  return runtime === 'simulated' && names.length > 0 ? undefined : clusterCidr;
}
