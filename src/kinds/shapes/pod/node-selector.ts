/** Which nodes something may use, told by their labels and fields. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsSubdomain, labelValue, qualifiedName } from '../../../schema/names.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { operatorValues, unknownOperator } from '../meta/operator-values.ts';

const requirement = {
  key: s.string({ zero: true }),
  operator: s.string({ zero: true }),
  values: s.list(s.string()),
};
const NodeSelectorRequirement = s.object('NodeSelectorRequirement', requirement);
type NodeSelectorRequirement = TypeOf<typeof NodeSelectorRequirement>;

const NodeSelectorTerm = s.object(
  'NodeSelectorTerm',
  { matchExpressions: s.list(NodeSelectorRequirement), matchFields: s.list(NodeSelectorRequirement) },
  { atomic: true },
);
export type NodeSelectorTerm = TypeOf<typeof NodeSelectorTerm>;

/** All its requirements must hold; without any, it selects nothing. */
const RequiredNodeSelectorTerm = s.use(NodeSelectorTerm, { rules: [term(labels)] });

/** One that only makes a node better: a value that no label can have is allowed, and never holds. */
export const PreferredNodeSelectorTerm = s.use(NodeSelectorTerm, { zero: true, rules: [term(anyValues)] });

/** One of its terms must hold. */
export const NodeSelector = s.object(
  'NodeSelector',
  { nodeSelectorTerms: s.list(RequiredNodeSelectorTerm, { required: 'must have at least one node selector term' }) },
  { atomic: true },
);
export type NodeSelector = TypeOf<typeof NodeSelector>;

function term(expression: (requirement: NodeSelectorRequirement) => FieldError[]): Rule<NodeSelectorTerm> {
  return ({ matchExpressions, matchFields }) => [
    ...(matchExpressions ?? []).flatMap((each, index) => under(`matchExpressions[${index}]`, expression(each))),
    ...(matchFields ?? []).flatMap((each, index) => under(`matchFields[${index}]`, field(each))),
  ];
}

function labels(requirement: NodeSelectorRequirement): FieldError[] {
  const found = anyValues(requirement);
  requirement.values?.forEach((value, index) => {
    for (const complaint of labelValue(value)) found.push(invalid(`values[${index}]`, value, complaint));
  });
  return found;
}

function anyValues({ key, operator, values }: NodeSelectorRequirement): FieldError[] {
  const found = operatorValues(operator, values) ?? comparison(operator, values);
  for (const complaint of qualifiedName(key)) found.push(invalid('key', key, complaint));
  return found;
}

function comparison(operator: string, values: readonly string[] = []): FieldError[] {
  if (operator !== 'Gt' && operator !== 'Lt') return [unknownOperator(operator)];
  if (values.length === 1) return [];
  return [required('values', "must be specified single value when `operator` is 'Lt' or 'Gt'")];
}

/** Of a node's fields only the name can be asked for. */
function field({ key, operator, values = [] }: NodeSelectorRequirement): FieldError[] {
  const found: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    found.push(unknownOperator(operator));
  } else if (values.length !== 1) {
    found.push(required('values', "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key !== 'metadata.name') return [...found, invalid('key', key, 'not a valid field selector key')];
  values.forEach((value, index) => {
    for (const complaint of dnsSubdomain(value)) found.push(invalid(`values[${index}]`, value, complaint));
  });
  return found;
}
