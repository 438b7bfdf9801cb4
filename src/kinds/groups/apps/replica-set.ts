import { s } from '../../../schema/builders.ts';
import { age, integer, name } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type HookContext, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate } from '../../shapes/workload/template-labels.ts';
import { labelsMatchSelector, selectorIsKept, selectsSomething } from '../../shapes/workload/workload-selector.ts';
import { conditionFields, counter, countersWithin } from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';

/** The version in which labels and selector follow from the template, and the selector may change. */
const FROM_TEMPLATE = 'extensions/v1beta1';

const template = workloadTemplate('ReplicaSet', [labelsMatchSelector]);

const specFields = {
  replicas: s.int32({ min: 0, default: 1, description: 'How many pods there should be.' }),
  minReadySeconds: s.int32({
    min: 0,
    omitZero: true,
    description: 'How long a new pod must have been ready before it counts as available.',
  }),
  selector: s.use(LabelSelector, {
    required: true,
    // The words are those that clients know, although this is not a Deployment.
    rules: [selectsSomething('deployment')],
    description: "Which pods are the ReplicaSet's; the labels of the template must fit it.",
  }),
  template: s.use(template, { default: {}, description: 'What new pods are made from; running ones are left alone.' }),
};

const ReplicaSetStatus = s.object(
  'ReplicaSetStatus',
  {
    replicas: s.int32({ min: 0, zero: true, description: 'How many pods there are.' }),
    fullyLabeledReplicas: counter('How many of them have all labels of the template.'),
    readyReplicas: counter('How many of them are ready.'),
    availableReplicas: counter('How many have been ready for minReadySeconds.'),
    terminatingReplicas: s.int32({ min: 0, description: 'How many are on their way out.' }),
    observedGeneration: s.int64({ min: 0, omitZero: true, description: 'The generation that the rest speaks of.' }),
    conditions: s.listMap(s.object('ReplicaSetCondition', conditionFields), {
      keys: ['type'],
      description: 'What holds for the ReplicaSet: ReplicaFailure.',
    }),
  },
  {
    default: {},
    rules: [countersWithin(['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'])],
    description: 'What there is.',
  },
);

/** Keeps a fixed number of identical pods alive. */
export const ReplicaSet = defineKind({
  group: 'apps',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  short: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A number of identical pods: missing ones are created, surplus ones deleted.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': {
      orphansByDefault: true,
      deprecated: deprecation('apps/v1beta2', 'ReplicaSet'),
    },
    'extensions/v1beta1': {
      fields: {
        spec: s.object(
          'ReplicaSetSpec',
          { ...specFields, selector: s.use(specFields.selector, { default: selectorFromTemplate }) },
          { default: {}, description: 'What is wanted.' },
        ),
      },
      orphansByDefault: true,
      deprecated: deprecation('extensions/v1beta1', 'ReplicaSet'),
    },
  },
  fields: {
    spec: s.object('ReplicaSetSpec', specFields, {
      default: {},
      rules: [selectorIsKept([FROM_TEMPLATE])],
      description: 'What is wanted.',
    }),
    status: ReplicaSetStatus,
  },
  subresources: {
    status: true,
    scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
  },
  selectable: { 'status.replicas': (replicaSet) => String(replicaSet.status?.replicas ?? 0) },
  generation: true,
  initialStatus: () => ({ replicas: 0 }),
  onCreate: labelLikeTemplate,
  onUpdate: (replicaSet, _old, context) => labelLikeTemplate(replicaSet, context),
  warnings: workloadWarnings,
  columns: [
    name,
    integer('Desired', 'How many pods there should be.', ({ spec }) => spec?.replicas),
    integer('Current', 'How many pods there are.', ({ status }) => status?.replicas),
    integer('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas),
    age,
    ...workloadColumns,
  ],
});
export type ReplicaSet = ObjectOf<typeof ReplicaSet>;

function labelLikeTemplate(replicaSet: any, { apiVersion }: HookContext): void {
  if (apiVersion === FROM_TEMPLATE) labelsFromTemplate(replicaSet);
}
