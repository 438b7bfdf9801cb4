import { s } from '../../../../schema/builders.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { name } from '../../../columns/column.ts';
import { containerColumnsOf } from '../../../columns/containers.ts';
import { labelsText } from '../../../columns/selector.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { PodTemplateSpec } from '../../../shapes/pod/pod-template.ts';
import { changedTemplateWarnings } from '../../../warnings/workload.ts';

const fields = {
  template: s.use(PodTemplateSpec, 'Metadata and spec of pods created from the template.', { default: {} }),
};

export type PodTemplate = KubeObject & ObjectType<typeof fields>;

/** A named template for pods. */
export const PodTemplate = defineKind({
  kind: 'PodTemplate',
  scope: 'Namespaced',
  description: 'A named template for pods. It creates none by itself.',
  versions: { v1: {} },
  fields,
  generation: true,
  warnings: (object, old) => changedTemplateWarnings(object, old, object.template, 'template'),
  columns: ({ text }) => [
    name,
    ...containerColumnsOf<PodTemplate>(({ template }) => template),
    text('Pod Labels', 'Labels of the pods.', ({ template }) => labelsText(template?.metadata?.labels)),
  ],
});
