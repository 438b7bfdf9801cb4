import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';

/** Sorted, as error messages list them. */
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** The fields of a rule. */
export const ruleFields = {
  operations: s.list(
    s.string(),
    'Operations that match: CREATE, UPDATE, DELETE, CONNECT, or * for all of them. Required.',
  ),
  apiGroups: s.list(s.string(), 'API groups of the resources; the core group is "". * matches all groups. Required.'),
  apiVersions: s.list(s.string(), 'API versions of the resources, such as v1. * matches all versions. Required.'),
  resources: s.list(
    s.string(),
    'Resources, in the plural. pods matches pods, pods/log a subresource, pods/* all subresources of pods, */scale all scale ' +
      'subresources, * all resources without their subresources, */* everything. Required.',
  ),
  scope: s.enum(
    ['*', 'Cluster', 'Namespaced'],
    'Scope of the resources: Cluster for those without a namespace, Namespaced for those in one, * for both. Defaults to *.',
    { default: '*' },
  ),
};

/** Selects the requests that a webhook or policy is called for. */
export const RuleWithOperations = s.object(
  'RuleWithOperations',
  'Operations and resources. A request matches when it matches all of the fields.',
  ruleFields,
  { rules: [ruleIsValid] },
);
export type RuleWithOperations = TypeOf<typeof RuleWithOperations>;

export function ruleIsValid({
  operations = [],
  apiGroups = [],
  apiVersions = [],
  resources = [],
}: ObjectType<typeof ruleFields>): FieldError[] {
  const found: FieldError[] = [];
  addAll(found, wildcardAlone('operations', operations, 'operations'));
  operations.forEach((operation, index) => {
    if (!OPERATIONS.includes(operation)) found.push(notSupported(`operations[${index}]`, operation, OPERATIONS));
  });
  addAll(found, wildcardAlone('apiGroups', apiGroups, 'API groups'));
  addAll(found, wildcardAlone('apiVersions', apiVersions, 'API versions'));
  apiVersions.forEach((version, index) => {
    if (!version) found.push(required(`apiVersions[${index}]`));
  });
  addAll(found, resourceErrors(resources));
  return found;
}

/** The list is not empty, and `*` has no company. */
function wildcardAlone(field: string, items: readonly string[], others: string): FieldError[] {
  if (items.length === 0) return [required(field)];
  if (items.length === 1 || !items.includes('*')) return [];
  return [invalid(field, items, `if '*' is present, must not specify other ${others}`)];
}

function resourceErrors(resources: readonly string[]): FieldError[] {
  if (resources.length === 0) return [required('resources')];
  const found: FieldError[] = [];
  const withAllSubresources = new Set<string>();
  const ofAllResources = new Set<string>();
  resources.forEach((text, index) => {
    const field = `resources[${index}]`;
    if (!text) found.push(required(field));
    const slash = text.indexOf('/');
    if (slash < 0) return;
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (withAllSubresources.has(resource)) {
      found.push(invalid(field, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (ofAllResources.has(subresource)) {
      found.push(invalid(field, text, `if '*/${subresource}' is present, must not specify ${text}`));
    }
    if (subresource === '*') withAllSubresources.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    found.push(invalid('resources', resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && resources.some((text) => text && text !== '*' && !text.includes('/'))) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    found.push(invalid('resources', resources, detail));
  }
  return found;
}
