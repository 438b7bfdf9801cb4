/** The selector of a workload and the labels of its pods: they must fit together, and mostly for good. */
import { deepEqual } from '../../../base/tree.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Rule, RuleContext } from '../../../schema/schema.ts';
import { fromLabelSelector, SelectorError } from '../../../schema/selector.ts';
import type { LabelSelector } from '../meta/label-selector.ts';

/** On a selector: it names something, and can be understood. */
export function selectsSomething(kind: string): Rule<LabelSelector> {
  return (selector) => {
    if (!selector.matchLabels && !selector.matchExpressions) {
      return invalid('', selector, `empty selector is invalid for ${kind}`);
    }
    return understood(selector) ? undefined : invalid('', selector, 'invalid label selector');
  };
}

/** On the metadata of a pod template: its labels fit the selector in the object's spec. Without one, none does. */
export function labelsMatchSelector(metadata: any, { root }: Pick<RuleContext, 'root'>): FieldError | undefined {
  return selects(root.spec.selector, metadata.labels) === false
    ? invalid('labels', metadata.labels ?? null, '`selector` does not match template `labels`')
    : undefined;
}

/** Undefined for a selector that cannot be understood; what is wrong with it is said elsewhere. */
export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean | undefined {
  return understood(selector)?.matches(labels);
}

/** On the spec, in the stored version: the selector is for good, but not for clients of these older versions. */
export function selectorIsKept(exceptIn: readonly string[]): Rule {
  return (spec, { old, apiVersion = '' }) =>
    old && !exceptIn.includes(apiVersion) && !deepEqual(spec.selector, old.selector)
      ? invalid('selector', spec.selector ?? null, 'field is immutable')
      : undefined;
}

function understood(selector: LabelSelector | undefined) {
  try {
    return fromLabelSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
