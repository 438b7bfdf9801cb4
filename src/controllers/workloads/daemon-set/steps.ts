/** How far a DaemonSet may go at once when its template changes. */
import { type IntOrPercent, magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import type { SeenDaemonSet } from './daemon-pod.ts';

export interface Steps {
  /** How many nodes may have an old and a new pod. */
  readonly maxSurge: number;
  /** How many nodes may be without an available pod. */
  readonly maxUnavailable: number;
}

/** Shares of the nodes that should have a pod are rounded up. */
export function stepsOf({ spec }: SeenDaemonSet, desired: number): Steps {
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = share(rollingUpdate?.maxSurge, desired);
  const maxUnavailable = share(rollingUpdate?.maxUnavailable, desired);
  // Nothing and nothing would never move.
  return { maxSurge, maxUnavailable: maxSurge === 0 ? Math.max(1, maxUnavailable) : maxUnavailable };
}

function share(value: IntOrPercent | undefined, of: number): number {
  return typeof value === 'string' ? Math.ceil((magnitude(value) * of) / 100) : (value ?? 0);
}
