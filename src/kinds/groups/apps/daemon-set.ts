import { deepEqual } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid } from '../../../schema/field-error.ts';
import { age, integer, name, text } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { labelsText } from '../../columns/selector.ts';
import { keepAnnotation, wholeNumber, withNumberAnnotation } from '../../conversion/number-annotation.ts';
import {
  TEMPLATE_GENERATION_ANNOTATION,
  templateGenerationOf,
  templateGenerationToAnnotation,
  templateGenerationToField,
} from '../../conversion/template-generation.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type HookContext, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate } from '../../shapes/workload/template-labels.ts';
import { labelsMatchSelector, selectorIsKept, selectsSomething } from '../../shapes/workload/workload-selector.ts';
import { collisionsGrow, conditionFields, counter } from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { changedTemplateWarnings } from '../../warnings/workload.ts';
import { updateStrategyOf } from './daemon-set-strategy.ts';

/** The version in which labels and selector follow from the template, and the selector may change. */
const FROM_TEMPLATE = 'extensions/v1beta1';

const template = workloadTemplate('DaemonSet', [labelsMatchSelector]);

const specFields = {
  selector: s.use(LabelSelector, {
    rules: [selectsSomething('daemonset')],
    description: "Which pods are the DaemonSet's; the labels of the template must fit it.",
  }),
  template: s.use(template, {
    zero: true,
    description: 'The pod that every node gets, or every node that the template selects.',
  }),
  updateStrategy: updateStrategyOf('RollingUpdate'),
  minReadySeconds: s.int32({
    min: 0,
    omitZero: true,
    description: 'How long a new pod must have been ready before it counts as available.',
  }),
  revisionHistoryLimit: s.int32({ min: 0, default: 10, description: 'How many old templates are kept to go back to.' }),
};

const DaemonSetStatus = s.object(
  'DaemonSetStatus',
  {
    currentNumberScheduled: s.int32({ min: 0, zero: true, description: 'Nodes that run a pod and should.' }),
    numberMisscheduled: s.int32({ min: 0, zero: true, description: 'Nodes that run a pod and should not.' }),
    desiredNumberScheduled: s.int32({ min: 0, zero: true, description: 'Nodes that should run a pod.' }),
    numberReady: s.int32({ min: 0, zero: true, description: 'Nodes that should run a pod and have a ready one.' }),
    observedGeneration: s.int64({ min: 0, omitZero: true, description: 'The generation that the rest speaks of.' }),
    updatedNumberScheduled: counter('Nodes whose pod comes from the present template.'),
    numberAvailable: counter('Nodes whose pod has been ready for minReadySeconds.'),
    numberUnavailable: counter('Nodes that should run a pod and have no available one.'),
    collisionCount: s.int32({ min: 0, description: 'How often the name of a new revision was taken already.' }),
    conditions: s.listMap(s.object('DaemonSetCondition', conditionFields), { keys: ['type'] }),
  },
  { default: {}, rules: [collisionsGrow], description: 'What there is.' },
);

/** Keeps one pod on every node, or on every node of some sort. */
export const DaemonSet = defineKind({
  group: 'apps',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  short: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'One pod on every node that its template selects: nodes that join get one, and lose it when they leave.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': {
      orphansByDefault: true,
      deprecated: deprecation('apps/v1beta2', 'DaemonSet'),
    },
    'extensions/v1beta1': {
      fields: {
        spec: s.object(
          'DaemonSetSpec',
          {
            ...specFields,
            selector: s.use(specFields.selector, { default: selectorFromTemplate }),
            updateStrategy: updateStrategyOf('OnDelete'),
            templateGeneration: s.int64({
              omitZero: true,
              description: 'Counts the changes of the template. Kept by the system; can be set only at creation.',
            }),
          },
          { default: {}, description: 'What is wanted.' },
        ),
      },
      toHub: templateGenerationToAnnotation,
      fromHub: templateGenerationToField,
      orphansByDefault: true,
      deprecated: deprecation('extensions/v1beta1', 'DaemonSet'),
    },
  },
  fields: {
    spec: s.object('DaemonSetSpec', specFields, {
      default: {},
      rules: [selectorIsKept([FROM_TEMPLATE])],
      description: 'What is wanted.',
    }),
    status: DaemonSetStatus,
  },
  subresources: { status: true },
  generation: true,
  initialStatus: () => ({
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  }),
  onCreate: (daemonSet, context) => {
    labelLikeTemplate(daemonSet, context);
    const text = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
    // What is no number is left for the rule to complain about.
    if (text === undefined || (wholeNumber(text) ?? 1) < 1) setTemplateGeneration(daemonSet, 1);
  },
  onUpdate: (daemonSet, old, context) => {
    labelLikeTemplate(daemonSet, context);
    const before = templateGenerationOf(old) ?? 0;
    setTemplateGeneration(daemonSet, deepEqual(daemonSet.spec.template, old.spec.template) ? before : before + 1);
  },
  onStatusUpdate: (daemonSet, old) => keepAnnotation(daemonSet, old, TEMPLATE_GENERATION_ANNOTATION),
  rules: [generationIsNumber],
  warnings: (daemonSet, old) => changedTemplateWarnings(daemonSet, old, daemonSet.spec.template),
  columns: [
    name,
    integer('Desired', 'How many nodes should run the pod.', ({ status }) => status?.desiredNumberScheduled),
    integer('Current', 'How many of them do.', ({ status }) => status?.currentNumberScheduled),
    integer('Ready', 'On how many it is ready.', ({ status }) => status?.numberReady),
    integer('Up-to-date', 'On how many it is as the template says.', ({ status }) => status?.updatedNumberScheduled),
    integer('Available', 'On how many it has been ready long enough.', ({ status }) => status?.numberAvailable),
    text('Node Selector', 'Which nodes are meant.', ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector)),
    age,
    ...workloadColumns,
  ],
});
export type DaemonSet = ObjectOf<typeof DaemonSet>;

function labelLikeTemplate(daemonSet: any, { apiVersion }: HookContext): void {
  if (apiVersion === FROM_TEMPLATE) labelsFromTemplate(daemonSet);
}

function setTemplateGeneration(daemonSet: any, generation: number): void {
  daemonSet.metadata = withNumberAnnotation(daemonSet, TEMPLATE_GENERATION_ANNOTATION, generation).metadata;
}

function generationIsNumber({ metadata }: any): readonly FieldError[] {
  const text = metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return text === undefined || wholeNumber(text) !== undefined
    ? []
    : [invalid(`metadata.annotations[${TEMPLATE_GENERATION_ANNOTATION}]`, text, 'must be a whole number')];
}
