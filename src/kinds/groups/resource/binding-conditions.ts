/** What must be true of a device before the pod that got it is bound to a node, and what sends the pod back. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { named } from './device-names.ts';
import { eachItem } from './list-rules.ts';

const MOST_CONDITIONS = 4;

export const bindingConditionFields = {
  bindingConditions: s.list(s.string(), {
    description:
      "Types of conditions that must all be True in the device's status before a pod that uses it is bound to a node. At most 4; requires bindingFailureConditions.",
  }),
  bindingFailureConditions: s.list(s.string(), {
    description:
      "Types of conditions in the device's status that mark the binding as failed as soon as one is True, so that the pod is scheduled again. At most 4; requires bindingConditions.",
  }),
};

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

export function bindingConditionRules({ bindingConditions = [], bindingFailureConditions = [] }: BindingConditions) {
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions';
  const found: FieldError[] = [
    ...eachItem('bindingConditions', bindingConditions, MOST_CONDITIONS, named(qualifiedName)),
    ...eachItem('bindingFailureConditions', bindingFailureConditions, MOST_CONDITIONS, named(qualifiedName)),
    ...repeated('bindingConditions', bindingConditions),
    ...repeated('bindingFailureConditions', bindingFailureConditions),
  ];
  bindingFailureConditions.forEach((condition, index) => {
    if (bindingConditions.includes(condition)) {
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

function repeated(field: string, list: readonly string[]): FieldError[] {
  return list.flatMap((each, index) => (list.indexOf(each) < index ? [duplicate(`${field}[${index}]`, each)] : []));
}
