import { s } from '../../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';

const list = (description: string) => s.list(s.string(), description);
const verbs = s.list(s.string(), 'Verbs that are allowed, `*` for all.', { zero: true });

/** Asks what the caller may do. It is answered at once and never stored. */
export const SelfSubjectRulesReview = defineKind({
  kind: 'SelfSubjectRulesReview',
  scope: 'Cluster',
  description:
    'Lists what the caller may do in a namespace, for example to show or hide controls in a user interface. The list can be incomplete: base decisions on SubjectAccessReviews instead. Nothing is stored.',
  versions: { 'authorization.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    spec: s.object(
      'SelfSubjectRulesReviewSpec',
      'The namespace to list the rules for.',
      { namespace: s.string('Namespace to list the rules for. Required.', { omitZero: true }) },
      { zero: true },
    ),
    status: s.struct('SubjectRulesReviewStatus', 'The rules that were found, filled in by the server.', {
      resourceRules: s.list(
        s.object('ResourceRule', 'Verbs that are allowed on resources.', {
          verbs,
          apiGroups: list('API groups the rule applies to: the empty string is the core group, `*` all groups.'),
          resources: list(
            'Resources the rule applies to; `*` is all of them, `*/status` the status subresource of all.',
          ),
          resourceNames: list('Names of the objects the rule applies to. Empty means all objects.'),
        }),
        'Allowed actions on API resources, in no particular order.',
        { zero: true },
      ),
      nonResourceRules: s.list(
        s.object('NonResourceRule', 'Verbs that are allowed on URL paths outside API resources.', {
          verbs,
          nonResourceURLs: list('URL paths the rule applies to. `*` may stand for a whole path or for its last part.'),
        }),
        'Allowed requests to other paths, in no particular order.',
        { zero: true },
      ),
      incomplete: s.boolean(
        'Whether rules may be missing, because an authorizer cannot list its rules or an error occurred.',
        { zero: true },
      ),
      evaluationError: s.string(
        'Error that occurred while the rules were collected. The rules that were found are still listed.',
        { omitZero: true },
      ),
    }),
  },
});
export type SelfSubjectRulesReview = ObjectOf<typeof SelfSubjectRulesReview>;
