/** Label selectors: how one object selects others by their labels. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../schema/names.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { fromLabelSelector } from '../../../schema/selector/selector.ts';
import { operatorValues, unknownOperator } from './operator-values.ts';

/** Checks that keys and values of a map of labels are valid in selectors. */
export function labels(map: Readonly<Record<string, string>>): FieldError[] {
  const found: FieldError[] = [];
  for (const key in map) {
    const value = map[key]!;
    for (const complaint of qualifiedName(key)) found.push(invalid('', key, complaint));
    for (const complaint of labelValue(value)) found.push(invalid('', value, complaint));
  }
  return found;
}

const LabelSelectorRequirement = s.object(
  'LabelSelectorRequirement',
  'Requirement that the labels of an object must meet.',
  {
    key: s.string('Label key that the requirement applies to.', { zero: true }),
    operator: s.string('Relation of the label to the values: In, NotIn, Exists or DoesNotExist.', { zero: true }),
    values: s.list(s.string(), 'Values for In and NotIn, at least one. Must be empty for Exists and DoesNotExist.'),
  },
  { rules: [requirement] },
);
type LabelSelectorRequirement = {
  key: string;
  operator: string;
  values?: string[];
};

export const LabelSelector = s.object(
  'LabelSelector',
  'Selects objects by their labels. matchLabels and matchExpressions must both match; an empty selector ' +
    'matches every object.',
  {
    matchLabels: s.map(s.string(), 'Labels that an object must have, with exactly these values.', { rules: [labels] }),
    matchExpressions: s.list(LabelSelectorRequirement, 'Requirements on labels, all of which must be met.'),
  },
  { atomic: true },
);
export type LabelSelector = TypeOf<typeof LabelSelector>;

/** Reports whether a valid selector matches labels. */
export function selectorMatches(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return fromLabelSelector(selector).matches(labels);
}

function requirement({ key, operator, values = [] }: LabelSelectorRequirement): FieldError[] {
  const found = operatorValues(operator, values) ?? [unknownOperator(operator)];
  for (const complaint of qualifiedName(key)) found.push(invalid('key', key, complaint));
  values.forEach((value, index) => {
    for (const complaint of labelValue(value)) found.push(invalid(`values[${index}]`, value, complaint));
  });
  return found;
}
