/** Taints keep pods off nodes, and tolerations let them on all the same. */

export interface TaintLike {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface TolerationLike {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** What a toleration leaves out covers everything. */
export function isTolerated(taint: TaintLike, tolerations: readonly TolerationLike[]): boolean {
  return tolerations.some(
    ({ key, operator, value = '', effect }) =>
      (!effect || effect === taint.effect) &&
      (!key || key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
}
