/** The limits of a Deployment's rolling update. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';

export interface UpdateLimits {
  /** Number of pods allowed above the desired number. */
  readonly maxSurge: number;
  /** Number of desired pods that may be missing. */
  readonly maxUnavailable: number;
}

/** Rounds percentages up for the surge and down for unavailable pods. */
export function updateLimitsOf({ spec }: DeepReadonly<Deployment>): UpdateLimits {
  const { replicas, strategy } = spec;
  if (strategy.type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = strategy.rollingUpdate ?? {};
  const surplus = share(maxSurge, replicas, Math.ceil);
  const missing = share(maxUnavailable, replicas, Math.floor);
  // With both at zero, it would never proceed.
  const atLeast = surplus === 0 && missing === 0 ? 1 : missing;
  return { maxSurge: surplus, maxUnavailable: Math.min(atLeast, replicas) };
}

function share(value: IntOrPercent, of: number, round: (share: number) => number): number {
  return typeof value === 'number' ? value : round((magnitude(value) * of) / 100);
}
