/** Template from which a controller creates pods. */
import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, under } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { labels } from '../meta/label-selector.ts';
import { ObjectMeta } from '../meta/object-meta.ts';
import { annotations } from '../meta/object-meta-rules.ts';
import { annotatedProfiles, podAnnotations } from './pod-annotations.ts';
import { PodSpec } from './pod-spec.ts';

const template = {
  metadata: s.use(ObjectMeta, 'Metadata of the pods, usually labels and annotations.', { default: {} }),
  spec: s.use(PodSpec, 'Desired behaviour of the pods.', { default: {} }),
};
export type PodTemplateSpec = ObjectType<typeof template>;

export const PodTemplateSpec = s.object('PodTemplateSpec', 'Template from which pods are created.', template, {
  rules: [makesPods],
});

/** The paths of errors about labels and annotations lack `metadata`, as in Kubernetes. */
function makesPods({ metadata, spec }: PodTemplateSpec, context: RuleContext): FieldError[] {
  if (context.subresource === 'status') return [];
  const found: FieldError[] = [];
  const check = (step: string, problems: FieldError | readonly FieldError[] | undefined) => {
    if (problems) addAll(found, under(step, 'reason' in problems ? [problems] : problems));
  };
  if (metadata.labels) check('labels', labels(metadata.labels));
  if (metadata.annotations) {
    check('annotations', annotations(metadata.annotations));
    check('annotations', podAnnotations(metadata.annotations, spec));
    check('spec', annotatedProfiles(metadata.annotations, spec));
  }
  if (spec.ephemeralContainers) {
    found.push(forbidden('spec.ephemeralContainers', 'ephemeral containers not allowed in pod template'));
  }
  return found;
}
