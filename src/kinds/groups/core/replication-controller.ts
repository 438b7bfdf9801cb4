import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { fromLabels } from '../../../schema/selector/selector.ts';
import { age, name, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { labelsText } from '../../columns/selector.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import type { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { labelsFromTemplate, type WithTemplate } from '../../shapes/workload/template-labels.ts';
import { conditionFields, counter, countersWithin, scalable } from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';

/** Checks the metadata of the template; the selector is a plain map of labels here. */
const labelsMatch: Rule<ObjectMeta, { readonly spec: { readonly selector?: Record<string, string> } }> = (
  metadata,
  { root },
) =>
  fromLabels(root.spec.selector ?? {}).matches(metadata.labels)
    ? undefined
    : invalid('labels', metadata.labels ?? null, '`selector` does not match template `labels`');

const template = workloadTemplate('ReplicationController', [labelsMatch]);

/** Maintains a fixed number of identical pods; the predecessor of the ReplicaSet. */
export const ReplicationController = defineKind({
  kind: 'ReplicationController',
  short: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Maintains a fixed number of identical pods: missing ones are created, surplus ones are deleted. Prefer ' +
    'a Deployment or ReplicaSet.',
  versions: { v1: { orphansByDefault: true } },
  fields: {
    spec: s.struct('ReplicationControllerSpec', 'Desired state of the ReplicationController.', {
      replicas: s.int32('Desired number of pods. Defaults to 1.', { min: 0, default: 1 }),
      minReadySeconds: s.int32(
        'Seconds that a new pod must have been ready before it counts as available. Defaults to 0.',
        { min: 0, omitZero: true },
      ),
      selector: s.map(
        s.string(),
        'Labels of the pods that the controller manages. They must be in the template. Defaults to the labels of ' +
          'the template.',
        {
          atomic: true,
          required: true,
          default: ({ template }: WithTemplate): Record<string, string> | undefined => template?.metadata.labels,
        },
      ),
      template: s.use(template, 'Template for new pods. Existing pods are not updated when it changes.', {
        required: true,
        pointer: true,
      }),
    }),
    status: s.struct(
      'ReplicationControllerStatus',
      'Observed state of the ReplicationController. Read-only.',
      {
        replicas: s.int32('Number of pods that the selector matches.', { min: 0, zero: true }),
        fullyLabeledReplicas: counter('Number of pods whose labels include all labels of the template.'),
        readyReplicas: counter('Number of pods whose Ready condition is True.'),
        availableReplicas: counter('Number of pods that have been ready for at least minReadySeconds.'),
        observedGeneration: s.int64('metadata.generation that the status was computed from.', {
          min: 0,
          omitZero: true,
        }),
        conditions: s.listMap(
          s.object(
            'ReplicationControllerCondition',
            'One aspect of the observed state of a ReplicationController.',
            conditionFields,
          ),
          'Conditions of the controller, such as ReplicaFailure.',
          { keys: ['type'] },
        ),
      },
      { rules: [countersWithin(['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'])] },
    ),
  },
  subresources: scalable,
  selectable: { 'status.replicas': (controller) => String(controller.status?.replicas ?? 0) },
  generation: true,
  initialStatus: () => ({ replicas: 0 }),
  onCreate: labelsFromTemplate,
  onUpdate: labelsFromTemplate,
  warnings: workloadWarnings,
  columns: ({ text, integer }) => [
    name,
    integer('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas),
    integer('Current', 'Current number of pods.', ({ status }) => status?.replicas),
    integer('Ready', 'Number of ready pods.', ({ status }) => status?.readyReplicas),
    age,
    ...[
      ...containerColumns,
      text('Selector', 'Labels of the pods that it manages.', ({ spec }) => labelsText(spec?.selector)),
    ].map(wide),
  ],
});
export type ReplicationController = ObjectOf<typeof ReplicationController>;
