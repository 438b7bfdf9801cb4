import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { fromLabels } from '../../../schema/selector.ts';
import { age, integer, name, text, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { labelsText } from '../../columns/selector.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { labelsFromTemplate } from '../../shapes/workload/template-labels.ts';
import { conditionFields, counter, countersWithin } from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';

/** On the metadata of the template; the selector is a plain map of labels here. */
const labelsMatch: Rule = (metadata, { root }) =>
  fromLabels(root.spec.selector ?? {}).matches(metadata.labels)
    ? undefined
    : invalid('labels', metadata.labels ?? null, '`selector` does not match template `labels`');

const template = workloadTemplate('ReplicationController', [labelsMatch]);

/** Keeps a fixed number of identical pods alive: the forerunner of the ReplicaSet. */
export const ReplicationController = defineKind({
  group: '',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  short: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A number of identical pods: missing ones are created, surplus ones deleted. ReplicaSets do the same.',
  versions: { v1: { orphansByDefault: true } },
  fields: {
    spec: s.object(
      'ReplicationControllerSpec',
      {
        replicas: s.int32({ min: 0, default: 1, description: 'How many pods there should be.' }),
        minReadySeconds: s.int32({
          min: 0,
          omitZero: true,
          description: 'How long a new pod must have been ready before it counts as available.',
        }),
        selector: s.map(s.string(), {
          atomic: true,
          required: true,
          default: (spec: any): Record<string, string> | undefined => spec.template?.metadata.labels,
          description: "Labels that a pod must have to be the controller's; where absent, those of the template.",
        }),
        template: s.use(template, { required: true, description: 'What new pods are made from.' }),
      },
      { default: {}, description: 'What is wanted.' },
    ),
    status: s.object(
      'ReplicationControllerStatus',
      {
        replicas: s.int32({ min: 0, zero: true, description: 'How many pods there are.' }),
        fullyLabeledReplicas: counter('How many of them have all labels of the template.'),
        readyReplicas: counter('How many of them are ready.'),
        availableReplicas: counter('How many have been ready for minReadySeconds.'),
        observedGeneration: s.int64({ min: 0, omitZero: true, description: 'The generation that the rest speaks of.' }),
        conditions: s.listMap(s.object('ReplicationControllerCondition', conditionFields), { keys: ['type'] }),
      },
      {
        default: {},
        rules: [countersWithin(['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'])],
        description: 'What there is.',
      },
    ),
  },
  subresources: {
    status: true,
    scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
  },
  selectable: { 'status.replicas': (controller) => String(controller.status?.replicas ?? 0) },
  generation: true,
  initialStatus: () => ({ replicas: 0 }),
  onCreate: labelsFromTemplate,
  onUpdate: labelsFromTemplate,
  warnings: workloadWarnings,
  columns: [
    name,
    integer('Desired', 'How many pods there should be.', ({ spec }) => spec?.replicas),
    integer('Current', 'How many pods there are.', ({ status }) => status?.replicas),
    integer('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas),
    age,
    ...[
      ...containerColumns(),
      text('Selector', 'Which pods belong to it.', ({ spec }) => labelsText(spec?.selector)),
    ].map(wide),
  ],
});
export type ReplicationController = ObjectOf<typeof ReplicationController>;
