/** How far a Deployment may go at once. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';

export interface Steps {
  /** How many pods there may be beyond the wanted ones. */
  readonly maxSurge: number;
  /** How many of the wanted pods may be missing. */
  readonly maxUnavailable: number;
}

/** Shares of the wanted pods are rounded up for the surplus and down for what may be missing. */
export function stepsOf({ spec }: DeepReadonly<Deployment>): Steps {
  const { replicas, strategy } = spec;
  if (strategy.type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = strategy.rollingUpdate ?? {};
  const surplus = share(maxSurge, replicas, Math.ceil);
  const missing = share(maxUnavailable, replicas, Math.floor);
  // Two shares that both come to nothing would never move.
  const atLeast = surplus === 0 && missing === 0 ? 1 : missing;
  return { maxSurge: surplus, maxUnavailable: Math.min(atLeast, replicas) };
}

function share(value: IntOrPercent, of: number, round: (share: number) => number): number {
  return typeof value === 'number' ? value : round((magnitude(value) * of) / 100);
}
