/** Taints, which repel pods from nodes, and the tolerations of pods. */

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

/** Whether a toleration matches a taint; what it leaves out matches everything. */
export function covers({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}

/** Whether one of the taints repels a pod with these tolerations; `PreferNoSchedule` does not. */
export function isKeptOff(tolerations: Tolerations, taints: readonly Taint[]): boolean {
  for (const taint of taints) {
    if (taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations)) return true;
  }
  return false;
}
