/** Rules on a workload's selector and the labels of its pod template: they must match, and the selector is immutable. */
import { deepEqual } from '../../../base/json/tree.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Rule, RuleContext } from '../../../schema/schema.ts';
import { fromLabelSelector, SelectorError } from '../../../schema/selector/selector.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';

/** Checks that a selector is neither empty nor invalid. */
export function selectsSomething(kind: string): Rule<LabelSelector> {
  return (selector) => {
    if (!selector.matchLabels && !selector.matchExpressions) {
      return invalid('', selector, `empty selector is invalid for ${kind}`);
    }
    return parsed(selector) ? undefined : invalid('', selector, 'invalid label selector');
  };
}

/** An object whose spec has a label selector. */
interface WithSelector {
  readonly spec: { readonly selector?: LabelSelector };
}

/** Checks that the labels of a pod template match the selector in the object's spec. */
export function templateMatchesSelector(metadata: ObjectMeta, { root }: RuleContext<ObjectMeta, WithSelector>) {
  return labelsMatchSelector(metadata, root.spec.selector);
}

/** The error for labels that a selector does not match; without a selector, no labels match. */
export function labelsMatchSelector(metadata: ObjectMeta, selector: LabelSelector | undefined): FieldError | undefined {
  return selects(selector, metadata.labels) === false
    ? invalid('labels', metadata.labels ?? null, '`selector` does not match template `labels`')
    : undefined;
}

/** Reports whether the selector matches; undefined for an invalid one, which its own rules report. */
export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean | undefined {
  return parsed(selector)?.matches(labels);
}

/** Checks that the selector stays the same, except in requests of these older versions. */
export function selectorIsKept(exceptIn: readonly string[]): Rule<WithSelector['spec']> {
  return (spec, { old, apiVersion = '' }) =>
    old && !exceptIn.includes(apiVersion) && !deepEqual(spec.selector, old.selector)
      ? invalid('selector', spec.selector ?? null, 'field is immutable')
      : undefined;
}

function parsed(selector: LabelSelector | undefined) {
  try {
    return fromLabelSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
