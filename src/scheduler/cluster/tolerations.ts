/** Taints of nodes, and pods that do not mind them. */
import type { Node, Pod } from '../objects.ts';

export type Taint = NonNullable<Node['spec']['taints']>[number];
export type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

export const NO_TAINTS: readonly Taint[] = Object.freeze([]);

/** How `kubectl cordon` looks to a pod. */
export const CORDONED: Taint = Object.freeze({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' });

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return tolerations?.some((each) => covers(each, taint)) ?? false;
}

function covers({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}

/** Whether a taint keeps the pod off: those that only make a node worse do not. */
export function isKeptOff(tolerations: readonly Toleration[] | undefined, taints: readonly Taint[]): boolean {
  for (const taint of taints) {
    if (taint.effect !== 'PreferNoSchedule' && !tolerates(tolerations, taint)) return true;
  }
  return false;
}
