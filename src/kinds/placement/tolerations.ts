/** Taints keep pods off nodes, and tolerations let them on all the same. */

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

type Tolerations = readonly Toleration[] | undefined;

export function isTolerated(taint: Taint, tolerations: Tolerations): boolean {
  return tolerations?.some((each) => covers(each, taint)) ?? false;
}

/** What a toleration leaves out covers everything. */
export function covers({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}

/** Whether a taint keeps a pod with these tolerations off: those that only make a node worse do not. */
export function isKeptOff(tolerations: Tolerations, taints: readonly Taint[]): boolean {
  for (const taint of taints) {
    if (taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations)) return true;
  }
  return false;
}
