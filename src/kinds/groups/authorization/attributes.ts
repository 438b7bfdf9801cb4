/** What somebody wants to do: with an object, or with a path that is none. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, TypeOf } from '../../../schema/schema.ts';
import { operatorValues } from '../../shapes/meta/operator-values.ts';

const text = (description: string) => s.string({ omitZero: true, description });

const requirement = {
  key: s.string({ zero: true }),
  operator: s.string({ zero: true, description: 'In, NotIn, Exists or DoesNotExist; others are let pass.' }),
  values: s.list(s.string()),
};
type Requirement = ObjectType<typeof requirement>;

/** Two ways to say it, of which one must be used. The raw one is for whoever asks somebody else. */
const selector = (name: 'Field' | 'Label') =>
  s.object(
    `${name}SelectorAttributes`,
    {
      rawSelector: text('The selector as it stands in a URL. Whoever answers may not understand it.'),
      requirements: s.list(s.object(`${name}SelectorRequirement`, requirement), {
        description: 'The selector, part by part.',
      }),
    },
    { description: `Only the objects that this ${name.toLowerCase()} selector selects are meant.` },
  );

const ResourceAttributes = s.object('ResourceAttributes', {
  namespace: text('The namespace; empty for what is in none, or for all of them.'),
  verb: text('What is to be done: get, list, watch, create, update, patch, delete, or * for everything.'),
  group: text('The API group; * for all.'),
  version: text('The version in that group; * for all.'),
  resource: text('The kind of objects, as paths name it; * for all.'),
  subresource: text('The part of the object that is meant.'),
  name: text('The object; empty for all.'),
  fieldSelector: selector('Field'),
  labelSelector: selector('Label'),
});
type ResourceAttributes = TypeOf<typeof ResourceAttributes>;

const NonResourceAttributes = s.object('NonResourceAttributes', {
  path: text('The path of the request.'),
  verb: text('The method of the request, in small letters.'),
});

/** The fields by which a review says what it is about. */
export const attributes = {
  resourceAttributes: s.use(ResourceAttributes, { description: 'What is to be done with objects.' }),
  nonResourceAttributes: s.use(NonResourceAttributes, { description: 'What is to be done with another path.' }),
};
type Attributes = ObjectType<typeof attributes>;

/** On the spec of a review. */
export function oneQuestion({ resourceAttributes, nonResourceAttributes }: Attributes): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    return [invalid('nonResourceAttributes', nonResourceAttributes, detail)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('resourceAttributes', null, detail)];
}

/** On the spec of a review. */
export function selectorsAreClear({ resourceAttributes }: Attributes): FieldError[] {
  if (!resourceAttributes) return [];
  const { fieldSelector, labelSelector } = resourceAttributes;
  return under('resourceAttributes', [
    ...(fieldSelector ? selectorRules('fieldSelector', fieldSelector, fieldRequirement) : []),
    ...(labelSelector ? selectorRules('labelSelector', labelSelector, labelRequirement) : []),
  ]);
}

type Selector = NonNullable<ResourceAttributes['fieldSelector']>;

function selectorRules(
  field: 'fieldSelector' | 'labelSelector',
  { rawSelector, requirements = [] }: Selector,
  judge: (requirement: Requirement) => FieldError[],
): FieldError[] {
  const found: FieldError[] = [];
  if (rawSelector && requirements.length) {
    found.push(invalid('rawSelector', rawSelector, 'may not specified at the same time as requirements'));
  }
  if (!rawSelector && !requirements.length) {
    const path = `spec.resourceAttributes.${field}`;
    found.push(required('requirements', `when ${path} is specified, requirements or rawSelector is required`));
  }
  found.push(...requirements.flatMap((each, index) => under(`requirements[${index}]`, judge(each))));
  return under(field, found);
}

function fieldRequirement(requirement: Requirement): FieldError[] {
  return [...(requirement.key ? [] : [required('key', 'must be specified')]), ...comparison(requirement)];
}

function labelRequirement(requirement: Requirement): FieldError[] {
  const { key, values = [] } = requirement;
  return [
    ...comparison(requirement),
    ...qualifiedName(key).map((complaint) => invalid('key', key, complaint)),
    ...values.flatMap((value, index) =>
      labelValue(value).map((complaint) => invalid(`values[${index}]`, value, complaint)),
    ),
  ];
}

/** A client that is newer than the server may know more operators. */
function comparison({ operator, values }: Requirement): FieldError[] {
  return operatorValues(operator, values) ?? [];
}
