/** Rules for `matchLabelKeys` and `mismatchLabelKeys`. */
import { type FieldError, forbidden, invalid } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import type { LabelSelector } from './label-selector.ts';

interface LabelKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export function labelKeys({ labelSelector, matchLabelKeys, mismatchLabelKeys }: LabelKeys): FieldError[] {
  if (!matchLabelKeys && !mismatchLabelKeys) return [];
  const found = [
    ...keyList('matchLabelKeys', matchLabelKeys, labelSelector),
    ...keyList('mismatchLabelKeys', mismatchLabelKeys, labelSelector),
  ];
  const selected = timesSelected(labelSelector);
  const mismatched = new Set(mismatchLabelKeys);
  matchLabelKeys?.forEach((key, index) => {
    if (selected(key) > 1) {
      found.push(invalid(`[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    }
    if (mismatched.has(key)) {
      found.push(invalid(`matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  });
  return found;
}

function keyList(step: string, keys: readonly string[] = [], selector: LabelSelector | undefined): FieldError[] {
  if (keys.length && !selector) return [forbidden(step, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) =>
    qualifiedName(key).map((complaint) => invalid(`${step}[${index}]`, key, complaint)),
  );
}

/** Counts the requirements of a selector on a key; the server adds one itself, so once is allowed. */
function timesSelected({ matchExpressions = [], matchLabels = {} }: LabelSelector = {}): (key: string) => number {
  const times = new Map<string, number>();
  for (const { key } of matchExpressions) times.set(key, (times.get(key) ?? 0) + 1);
  return (key) => {
    const expressions = times.get(key) ?? 0;
    return expressions && Object.hasOwn(matchLabels, key) ? expressions + 1 : expressions;
  };
}
