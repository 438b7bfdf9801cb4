/** Taints, which repel pods from nodes, and the tolerations of pods. */

import { memoized } from '../../base/collections/memoized.ts';
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
  return tolerations !== undefined && tolerationOf(taint, tolerations) !== undefined;
}

/** Returns the first toleration that matches the taint. */
export function tolerationOf<T extends Toleration>(taint: Taint, tolerations: readonly T[]): T | undefined {
  if (tolerations.length <= MAX_SCANNED) return tolerations.find((each) => covers(each, taint));
  const index = indexOf(tolerations);
  let first = Number.POSITIVE_INFINITY;
  for (const key of [taint.key, '']) {
    for (const effect of [taint.effect, '']) {
      first = Math.min(first, index.get(keyOf(key, effect, EXISTS)) ?? first);
      first = Math.min(first, index.get(keyOf(key, effect, `=${taint.value ?? ''}`)) ?? first);
    }
  }
  return tolerations[first];
}

/** Number of tolerations above which they get an index: a node may have as many taints as a pod has tolerations. */
const MAX_SCANNED = 16;
const EXISTS = 'exists';

/** Lists are immutable. The position of the first toleration with a key, effect and value; empty ones match all. */
const indexOf = memoized((tolerations: readonly Toleration[]): ReadonlyMap<string, number> => {
  const index = new Map<string, number>();
  for (const [position, { key = '', operator, value = '', effect = '' }] of tolerations.entries()) {
    const text = keyOf(key, effect, operator === 'Exists' ? EXISTS : `=${value}`);
    if (!index.has(text)) index.set(text, position);
  }
  return index;
});

const keyOf = (key: string, effect: string, value: string) => `${key}\n${effect}\n${value}`;

/** Reports whether a toleration matches a taint; omitted fields match everything. */
function covers({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}

/** Reports whether one of the taints repels a pod with these tolerations; `PreferNoSchedule` does not. */
export function isKeptOff(tolerations: Tolerations, taints: readonly Taint[]): boolean {
  for (const taint of taints) {
    if (taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations)) return true;
  }
  return false;
}
