/** The limits of a DaemonSet's rolling update. */
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import type { SeenDaemonSet } from './daemon-pod.ts';

export interface UpdateLimits {
  /** Number of nodes that may have both an old and a new pod. */
  readonly maxSurge: number;
  /** Number of nodes that may be without an available pod. */
  readonly maxUnavailable: number;
}

/** Percentages of the desired nodes are rounded up. */
export function updateLimitsOf({ spec }: SeenDaemonSet, desired: number): UpdateLimits {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = share(rollingUpdate?.maxSurge, desired);
  const maxUnavailable = share(rollingUpdate?.maxUnavailable, desired);
  // With both at zero, it would never proceed.
  return { maxSurge, maxUnavailable: maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}

function share(value: IntOrPercent | undefined, of: number): number {
  return typeof value === 'string' ? Math.ceil((magnitude(value) * of) / 100) : (value ?? 0);
}
