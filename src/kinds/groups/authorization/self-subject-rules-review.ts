import { s } from '../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const list = (description: string) => s.list(s.string(), { description });
const verbs = s.list(s.string(), { zero: true, description: 'What may be done; * is everything.' });

/** Asks what one may do oneself. It is answered at once, and never stored. */
export const SelfSubjectRulesReview = defineKind({
  group: 'authorization.k8s.io',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  description: 'Asks what the caller may do in a namespace. The answer is for showing, not for deciding.',
  versions: { 'authorization.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    spec: s.object(
      'SelfSubjectRulesReviewSpec',
      { namespace: s.string({ omitZero: true, description: 'The namespace; it must be named.' }) },
      { zero: true, description: 'What is asked.' },
    ),
    status: s.object(
      'SubjectRulesReviewStatus',
      {
        resourceRules: s.list(
          s.object('ResourceRule', {
            verbs,
            apiGroups: list('In which API groups; * is all.'),
            resources: list('With which kinds of objects; */status is the status of all.'),
            resourceNames: list('With which objects; none named is all.'),
          }),
          { zero: true, description: 'What may be done with objects, in no order.' },
        ),
        nonResourceRules: s.list(
          s.object('NonResourceRule', { verbs, nonResourceURLs: list('With which paths; * stands for a whole step.') }),
          { zero: true, description: 'What may be done with other paths, in no order.' },
        ),
        incomplete: s.boolean({ zero: true, description: 'Whether there may be more that could not be found out.' }),
        evaluationError: s.string({ omitZero: true, description: 'What went wrong on the way to the answer.' }),
      },
      { default: {}, description: 'The answer.' },
    ),
  },
});
export type SelfSubjectRulesReview = ObjectOf<typeof SelfSubjectRulesReview>;
