/** Conditions of a device that a pod waits for before it is bound to a node, and conditions that make binding fail. */
import { s } from '../../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../../schema/field-error.ts';
import { qualifiedName } from '../../../../schema/names.ts';
import { eachItem } from '../list-rules.ts';
import { named } from './device-names.ts';

const MAX_BINDING_CONDITIONS = 4;

export const bindingConditionFields = {
  bindingConditions: s.list(
    s.string(),
    "Types of conditions that must all be True in the device's status before a pod that uses it is bound to a node. At most 4; requires bindingFailureConditions.",
  ),
  bindingFailureConditions: s.list(
    s.string(),
    "Types of conditions in the device's status that mark the binding as failed as soon as one is True, so that the pod is scheduled again. At most 4; requires bindingConditions.",
  ),
};

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

export function bindingConditionRules({ bindingConditions = [], bindingFailureConditions = [] }: BindingConditions) {
  const known = new Set(bindingConditions);
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions';
  const found: FieldError[] = [
    ...eachItem('bindingConditions', bindingConditions, MAX_BINDING_CONDITIONS, named(qualifiedName)),
    ...eachItem('bindingFailureConditions', bindingFailureConditions, MAX_BINDING_CONDITIONS, named(qualifiedName)),
    ...duplicates('bindingConditions', bindingConditions),
    ...duplicates('bindingFailureConditions', bindingFailureConditions),
  ];
  bindingFailureConditions.forEach((condition, index) => {
    if (known.has(condition)) {
      found.push(invalid(`bindingFailureConditions[${index}]`, condition, overlap));
    }
  });
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0) {
    const detail = 'bindingConditions are required to use bindingFailureConditions';
    found.push(invalid('bindingConditions', null, detail));
  }
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0) {
    const detail = 'bindingFailureConditions are required to use bindingConditions';
    found.push(invalid('bindingFailureConditions', null, detail));
  }
  return found;
}

function duplicates(field: string, list: readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((each, index) => {
    if (seen.size < seen.add(each).size) return [];
    return [duplicate(`${field}[${index}]`, each)];
  });
}
