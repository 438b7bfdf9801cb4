/** The action that a review is about: on API objects, or on another URL path. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../../schema/names.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';
import { operatorValues } from '../../../shapes/meta/operator-values.ts';

const text = (description: string) => s.string(description, { omitZero: true });

const requirement = {
  key: s.string('Name of the label or field to compare.', { zero: true }),
  operator: s.string(
    'How the value relates to values: In, NotIn, Exists or DoesNotExist. Unknown operators are accepted, so that newer clients work with older servers.',
    { zero: true },
  ),
  values: s.list(
    s.string(),
    'Values to compare with. Needed for In and NotIn; must be empty for Exists and DoesNotExist.',
  ),
};
type Requirement = ObjectType<typeof requirement>;

/** A selector, either raw or parsed. The raw form is meant for authorization webhooks. */
const selector = (name: 'Field' | 'Label') =>
  s.object(
    `${name}SelectorAttributes`,
    'Limits the check to requests with this selector. Either rawSelector or requirements must be set.',
    {
      rawSelector: text(
        "The selector as it would appear in a URL's query. Cannot be combined with requirements. Meant for webhooks; an authorizer that cannot parse it ignores it.",
      ),
      requirements: s.list(
        s.object(`${name}SelectorRequirement`, 'One requirement on a label or field.', requirement),
        'The parsed selector: all requirements must hold. Cannot be combined with rawSelector.',
      ),
    },
  );

const ResourceAttributes = s.object('ResourceAttributes', 'An action on API objects.', {
  namespace: text(
    'Namespace of the action. Empty means no namespace for cluster-scoped resources, and all namespaces for others.',
  ),
  verb: text('Verb of the action: get, list, watch, create, update, patch, delete, deletecollection, or `*` for all.'),
  group: text('API group of the resource; empty is the core group, `*` all groups.'),
  version: text('API version of the resource, `*` for all versions.'),
  resource: text('Resource by its plural name, such as pods; `*` for all resources.'),
  subresource: text('Subresource, such as log or status. Empty means the resource itself.'),
  name: text('Name of the object. Empty means all objects, as for list and create.'),
  fieldSelector: selector('Field'),
  labelSelector: selector('Label'),
});
type ResourceAttributes = TypeOf<typeof ResourceAttributes>;

const NonResourceAttributes = s.object(
  'NonResourceAttributes',
  'A request to a path that does not belong to an API resource.',
  {
    path: text('Path of the URL, such as /healthz.'),
    verb: text('HTTP method in lower case, such as get.'),
  },
);

/** The fields of a review's spec that name the action. */
export const attributes = {
  resourceAttributes: s.use(
    ResourceAttributes,
    'The action to check, when it concerns API objects. Cannot be combined with nonResourceAttributes.',
  ),
  nonResourceAttributes: s.use(
    NonResourceAttributes,
    'The request to check, when it concerns another path, such as /metrics. Cannot be combined with resourceAttributes.',
  ),
};
type Attributes = ObjectType<typeof attributes>;

/** Checks that a review has exactly one kind of attributes. */
export function oneOfAttributes({ resourceAttributes, nonResourceAttributes }: Attributes): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    return [invalid('nonResourceAttributes', nonResourceAttributes, detail)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('resourceAttributes', null, detail)];
}

/** Checks the selectors in the spec of a review. */
export function selectorsAreValid({ resourceAttributes }: Attributes): FieldError[] {
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
  check: (requirement: Requirement) => FieldError[],
): FieldError[] {
  const found: FieldError[] = [];
  if (rawSelector && requirements.length) {
    found.push(invalid('rawSelector', rawSelector, 'may not specified at the same time as requirements'));
  }
  if (!rawSelector && !requirements.length) {
    const path = `spec.resourceAttributes.${field}`;
    found.push(required('requirements', `when ${path} is specified, requirements or rawSelector is required`));
  }
  addAll(
    found,
    requirements.flatMap((each, index) => under(`requirements[${index}]`, check(each))),
  );
  return under(field, found);
}

function fieldRequirement(requirement: Requirement): FieldError[] {
  return [...(requirement.key ? [] : [required('key', 'must be specified')]), ...operatorProblems(requirement)];
}

function labelRequirement(requirement: Requirement): FieldError[] {
  const { key, values = [] } = requirement;
  return [
    ...operatorProblems(requirement),
    ...qualifiedName(key).map((complaint) => invalid('key', key, complaint)),
    ...values.flatMap((value, index) =>
      labelValue(value).map((complaint) => invalid(`values[${index}]`, value, complaint)),
    ),
  ];
}

/** Unknown operators are accepted: the client may be newer than the server. */
function operatorProblems({ operator, values }: Requirement): FieldError[] {
  return operatorValues(operator, values) ?? [];
}
