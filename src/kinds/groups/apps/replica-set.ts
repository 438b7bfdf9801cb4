import { s } from '../../../schema/builders.ts';
import { age, name } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate } from '../../shapes/workload/template-labels.ts';
import { selectorIsKept, selectsSomething, templateMatchesSelector } from '../../shapes/workload/workload-selector.ts';
import {
  conditionFields,
  counter,
  countersWithin,
  minReadySeconds,
  observedGeneration,
  scalable,
} from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';

/** The version in which the selector defaults to the labels of the template, and may change. */
const DEFAULTS_FROM_TEMPLATE = 'extensions/v1beta1';

const template = workloadTemplate('ReplicaSet', [templateMatchesSelector]);

const specFields = {
  replicas: s.int32('Number of pods to run. Defaults to 1; 0 stops them all.', { min: 0, default: 1 }),
  minReadySeconds,
  selector: s.use(
    LabelSelector,
    "Label selector for the pods this ReplicaSet manages. It must match the labels of the pod template and cannot be changed after creation, except in extensions/v1beta1, where it defaults to the template's labels.",
    {
      required: true,
      // Kubernetes' message also says "deployment" here.
      rules: [selectsSomething('deployment')],
    },
  ),
  template: s.use(
    template,
    'Template that new pods are created from. Changing it does not affect pods that already run. The only allowed restartPolicy is Always.',
    { default: {} },
  ),
};

const ReplicaSetStatus = s.struct(
  'ReplicaSetStatus',
  'Most recently observed state of the ReplicaSet, written by its controller.',
  {
    replicas: s.int32('Number of pods that the selector matches and that are not terminating.', { min: 0, zero: true }),
    fullyLabeledReplicas: counter('Number of pods whose labels include all labels of the pod template.'),
    readyReplicas: counter('Number of pods whose Ready condition is True.'),
    availableReplicas: counter('Number of pods that have been ready for at least minReadySeconds.'),
    terminatingReplicas: s.int32('Number of pods that have a deletion timestamp but have not gone yet.', { min: 0 }),
    observedGeneration,
    conditions: s.listMap(
      s.object('ReplicaSetCondition', 'One observation about the state of a ReplicaSet.', conditionFields),
      'Latest observations of the state of the ReplicaSet, at most one per type. ReplicaFailure is True while pods cannot be created or deleted.',
      { keys: ['type'] },
    ),
  },
  { rules: [countersWithin(['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'])] },
);

/** Keeps a fixed number of interchangeable pods running. */
export const ReplicaSet = defineKind({
  kind: 'ReplicaSet',
  short: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Keeps a fixed number of interchangeable pods running: missing ones are created, surplus ones deleted. Most users create a Deployment, which manages ReplicaSets for them.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': { orphansByDefault: true },
    'extensions/v1beta1': {
      fields: {
        spec: s.struct('ReplicaSetSpec', 'Desired state of the ReplicaSet.', {
          ...specFields,
          selector: s.use(specFields.selector, { default: selectorFromTemplate }),
        }),
      },
      orphansByDefault: true,
    },
  },
  fields: {
    spec: s.struct('ReplicaSetSpec', 'Desired state of the ReplicaSet.', specFields, {
      rules: [selectorIsKept([DEFAULTS_FROM_TEMPLATE])],
    }),
    status: ReplicaSetStatus,
  },
  subresources: scalable,
  selectable: { 'status.replicas': (replicaSet) => String(replicaSet.status?.replicas ?? 0) },
  generation: true,
  initialStatus: () => ({ replicas: 0 }),
  onCreate: (replicaSet) => labelsFromTemplate(replicaSet),
  onUpdate: (replicaSet) => labelsFromTemplate(replicaSet),
  warnings: workloadWarnings,
  columns: ({ integer }) => [
    name,
    integer('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas),
    integer('Current', 'Current number of pods.', ({ status }) => status?.replicas),
    integer('Ready', 'Number of ready pods.', ({ status }) => status?.readyReplicas),
    age,
    ...workloadColumns,
  ],
});
export type ReplicaSet = ObjectOf<typeof ReplicaSet>;
