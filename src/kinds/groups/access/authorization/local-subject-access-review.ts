import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { defineKind, type KubeObject, type ObjectOf } from '../../../kind.ts';
import { emptyMetadata, SubjectAccessReviewSpec, SubjectAccessReviewStatus } from './access-review.ts';

/** Asks whether a subject may perform an action in one namespace. Being namespaced, it can be permitted per namespace. */
export const LocalSubjectAccessReview = defineKind({
  kind: 'LocalSubjectAccessReview',
  scope: 'Namespaced',
  description:
    'Asks whether a user or group may perform an action in one namespace. Because it is namespaced itself, permission to ask can be granted per namespace. The answer is in status; nothing is stored.',
  versions: { 'authorization.k8s.io/v1': {} },
  verbs: ['create'],
  fields: { spec: SubjectAccessReviewSpec, status: SubjectAccessReviewStatus },
  rules: [emptyMetadata('must be empty except for namespace', 'namespace'), insideNamespace],
});
export type LocalSubjectAccessReview = ObjectOf<typeof LocalSubjectAccessReview>;

type Review = KubeObject & { spec: TypeOf<typeof SubjectAccessReviewSpec> };

function insideNamespace({ metadata, spec }: Review): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const found: FieldError[] = [];
  const namespace = resourceAttributes?.namespace ?? '';
  if (resourceAttributes && namespace !== (metadata.namespace ?? '')) {
    found.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
  }
  if (nonResourceAttributes) {
    const detail = 'disallowed on this kind of request';
    found.push(invalid('spec.nonResourceAttributes', nonResourceAttributes, detail));
  }
  return found;
}
