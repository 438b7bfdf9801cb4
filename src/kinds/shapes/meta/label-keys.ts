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
  matchLabelKeys?.forEach((key, index) => {
    if (labelSelector && timesSelected(labelSelector, key) > 1) {
      found.push(invalid(`[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    }
    if (mismatchLabelKeys?.includes(key)) {
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

/** How often a selector has requirements on the key; the server adds one itself, so once is allowed. */
function timesSelected(selector: LabelSelector, key: string): number {
  const expressions = (selector.matchExpressions ?? []).filter((each) => each.key === key).length;
  return expressions && Object.hasOwn(selector.matchLabels ?? {}, key) ? expressions + 1 : expressions;
}
