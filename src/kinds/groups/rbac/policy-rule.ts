/** What a role allows. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';

const fields = {
  verbs: s.list(s.string(), {
    required: 'verbs must contain at least one value',
    description: 'What may be done, such as get, list or create; `*` is everything.',
  }),
  apiGroups: s.list(s.string(), {
    description: 'The groups of the resources: the empty text is the core group, `*` is every group.',
  }),
  resources: s.list(s.string(), {
    description:
      'What it may be done to, such as pods or pods/log; `*` is every resource, `*/scale` one subresource of all.',
  }),
  resourceNames: s.list(s.string(), { description: 'Only the objects with these names; without any, all of them.' }),
  nonResourceURLs: s.list(s.string(), {
    description:
      'Paths that are no resources, such as /healthz; a `*` may stand for the end of a path. Not together with resources, and only in a ClusterRole.',
  }),
};

export type PolicyRule = ObjectType<typeof fields>;

/** In a Role: about the resources of its namespace. */
export const NamespacedRule = s.object('PolicyRule', fields, { rules: [about({ paths: false })] });

/** In a ClusterRole: about resources, or about paths. */
export const ClusterRule = s.object('PolicyRule', fields, { rules: [about({ paths: true })] });

function about(allowed: { readonly paths: boolean }): Rule<PolicyRule> {
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
