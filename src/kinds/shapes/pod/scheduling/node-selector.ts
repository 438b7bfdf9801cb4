/** Selectors of nodes by their labels and fields. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../../schema/field-error.ts';
import { dnsSubdomain, labelValue, qualifiedName } from '../../../../schema/names.ts';
import type { Rule, TypeOf } from '../../../../schema/schema.ts';
import { operatorValues, unknownOperator } from '../../meta/operator-values.ts';

const requirement = {
  key: s.string('Label key, or name of the field, that the requirement applies to.', { zero: true }),
  operator: s.string('Relation of the label to the values: In, NotIn, Exists, DoesNotExist, Gt or Lt.', { zero: true }),
  values: s.list(
    s.string(),
    'Values for In and NotIn, at least one; exactly one integer for Gt and Lt. Must be empty for Exists and ' +
      'DoesNotExist.',
  ),
};
const NodeSelectorRequirement = s.object(
  'NodeSelectorRequirement',
  'Requirement that the labels or fields of a node must meet.',
  requirement,
);
type NodeSelectorRequirement = TypeOf<typeof NodeSelectorRequirement>;

const NodeSelectorTerm = s.object(
  'NodeSelectorTerm',
  'Set of requirements on a node, all of which must be met. An empty term matches no node.',
  {
    matchExpressions: s.list(NodeSelectorRequirement, 'Requirements on the labels of the node.'),
    matchFields: s.list(
      NodeSelectorRequirement,
      'Requirements on fields of the node. The only field is metadata.name.',
    ),
  },
  { atomic: true },
);
export type NodeSelectorTerm = TypeOf<typeof NodeSelectorTerm>;

/** A term of a required selector: label values are checked. */
const RequiredNodeSelectorTerm = s.use(NodeSelectorTerm, { rules: [term(labels)] });

/** A term of a preference: values that no label can have are allowed, and never match. */
export const PreferredNodeSelectorTerm = s.use(NodeSelectorTerm, { zero: true, rules: [term(anyValues)] });

export const NodeSelector = s.object(
  'NodeSelector',
  'Selects nodes by alternative terms: a node is selected if at least one term matches.',
  {
    nodeSelectorTerms: s.list(
      RequiredNodeSelectorTerm,
      'Terms of the selector, of which at least one must match. Required.',
      { required: 'must have at least one node selector term' },
    ),
  },
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

/** The name is the only field of a node that can be selected by. */
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
