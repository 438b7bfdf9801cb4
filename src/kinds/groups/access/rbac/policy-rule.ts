/** The rules of roles. */
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import type { ObjectType, Rule } from '../../../../schema/schema.ts';

const fields = {
  verbs: s.list(
    s.string(),
    'Verbs that are allowed, such as get, list, watch, create, update, patch or delete; `*` allows all. Required.',
    { required: 'verbs must contain at least one value' },
  ),
  apiGroups: s.list(
    s.string(),
    'API groups of the resources: the empty string is the core group, `*` all groups. Required unless nonResourceURLs is set.',
  ),
  resources: s.list(
    s.string(),
    'Resources by plural name, with an optional subresource, such as pods or pods/log; `*` is all resources, `*/scale` the scale subresource of all. Required unless nonResourceURLs is set.',
  ),
  resourceNames: s.list(
    s.string(),
    'Names of the objects that are allowed. Empty means all. create cannot be limited in this way, because the name is not known when the request is authorized.',
  ),
  nonResourceURLs: s.list(
    s.string(),
    'URL paths outside API resources that are allowed, such as /healthz; a trailing `*` matches the rest of a path. For ClusterRoles only, granted with a ClusterRoleBinding; cannot be combined with resources.',
  ),
};

export type PolicyRule = ObjectType<typeof fields>;

/** A rule in a Role, for resources only. */
export const NamespacedRule = s.object(
  'PolicyRule',
  'A permission: verbs that are allowed on resources or URL paths.',
  fields,
  { rules: [resourcesOrPaths({ paths: false })] },
);

/** A rule in a ClusterRole, for resources or for URL paths. */
export const ClusterRule = s.object(
  'PolicyRule',
  'A permission: verbs that are allowed on resources or URL paths.',
  fields,
  { rules: [resourcesOrPaths({ paths: true })] },
);

function resourcesOrPaths(allowed: { readonly paths: boolean }): Rule<PolicyRule> {
  return ({ apiGroups, resources, resourceNames, nonResourceURLs: paths }) => {
    const found: FieldError[] = [];
    if (paths) {
      if (!allowed.paths) {
        found.push(invalid('nonResourceURLs', paths, 'namespaced rules cannot apply to non-resource URLs'));
      }
      if (apiGroups || resources || resourceNames) {
        const detail = 'rules cannot apply to both regular resources and non-resource URLs';
        found.push(invalid('nonResourceURLs', paths, detail));
      }
      return found;
    }
    if (!apiGroups) found.push(required('apiGroups', 'resource rules must supply at least one api group'));
    if (!resources) found.push(required('resources', 'resource rules must supply at least one resource'));
    return found;
  };
}
