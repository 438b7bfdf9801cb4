import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { age, name } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { labelsText } from '../../columns/selector.ts';
import { keepAnnotation, wholeNumber, withNumberAnnotation } from '../../conversion/number-annotation.ts';
import {
  TEMPLATE_GENERATION_ANNOTATION,
  templateGenerationOf,
  templateGenerationToAnnotation,
  templateGenerationToField,
} from '../../conversion/template-generation.ts';
import { defineKind, type HookContext, type KubeObject, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate, type Templated } from '../../shapes/workload/template-labels.ts';
import { selectorIsKept, selectsSomething, templateMatchesSelector } from '../../shapes/workload/workload-selector.ts';
import {
  collisionsGrow,
  conditionFields,
  counter,
  minReadySeconds,
  observedGeneration,
} from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { changedTemplateWarnings } from '../../warnings/workload.ts';
import { updateStrategyOf } from './daemon-set-strategy.ts';

/** The version in which labels and selector default to those of the template, and the selector may change. */
const DEFAULTS_FROM_TEMPLATE = 'extensions/v1beta1';

const template = workloadTemplate('DaemonSet', [templateMatchesSelector]);

const specFields = {
  selector: s.use(
    LabelSelector,
    "Label selector for the pods this DaemonSet manages. It must match the labels of the pod template and cannot be changed after creation, except in extensions/v1beta1, where it defaults to the template's labels.",
    { rules: [selectsSomething('daemonset')] },
  ),
  template: s.use(
    template,
    'Template of the pod that runs on each eligible node. A change is rolled out according to updateStrategy.',
    { zero: true },
  ),
  updateStrategy: updateStrategyOf('RollingUpdate'),
  minReadySeconds,
  revisionHistoryLimit: s.int32('Number of old ControllerRevisions to keep for rollbacks. Defaults to 10.', {
    min: 0,
    default: 10,
  }),
};

const DaemonSetStatus = s.struct(
  'DaemonSetStatus',
  'Most recently observed state of the DaemonSet, written by its controller.',
  {
    currentNumberScheduled: s.int32(
      'Number of nodes that run at least one pod of this DaemonSet and are supposed to.',
      { min: 0, zero: true },
    ),
    numberMisscheduled: s.int32('Number of nodes that run a pod of this DaemonSet but are not supposed to.', {
      min: 0,
      zero: true,
    }),
    desiredNumberScheduled: s.int32(
      'Number of nodes that should run a pod of this DaemonSet, whether or not they already do.',
      { min: 0, zero: true },
    ),
    numberReady: s.int32('Number of eligible nodes whose pod is ready.', { min: 0, zero: true }),
    observedGeneration,
    updatedNumberScheduled: counter('Number of eligible nodes whose pod was created from the current pod template.'),
    numberAvailable: counter('Number of eligible nodes whose pod has been ready for at least minReadySeconds.'),
    numberUnavailable: counter(
      'Number of eligible nodes without an available pod: it is missing, not ready, or has not been ready for minReadySeconds.',
    ),
    collisionCount: s.int32(
      'Number of times the generated name of a ControllerRevision was already taken. The controller hashes it into the next name, so it never decreases.',
      { min: 0 },
    ),
    conditions: s.listMap(
      s.object('DaemonSetCondition', 'One observation about the state of a DaemonSet.', conditionFields),
      'Latest observations of the state of the DaemonSet, at most one per type.',
      { keys: ['type'] },
    ),
  },
  { rules: [collisionsGrow] },
);

/** Runs one pod on every eligible node. */
export const DaemonSet = defineKind({
  kind: 'DaemonSet',
  short: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    "Runs one copy of a pod on every node that the pod template's node selector, affinity and tolerations allow. Nodes that join the cluster get a pod; the pods of nodes that leave are cleaned up.",
  versions: {
    'apps/v1': {},
    'apps/v1beta2': { orphansByDefault: true },
    'extensions/v1beta1': {
      fields: {
        spec: s.struct('DaemonSetSpec', 'Desired state of the DaemonSet.', {
          ...specFields,
          selector: s.use(specFields.selector, { default: selectorFromTemplate }),
          updateStrategy: updateStrategyOf('OnDelete'),
          templateGeneration: s.int64(
            'Number of times the pod template has changed, starting at 1. Maintained by the server; a value of your own is accepted only at creation. Replaced by ControllerRevisions in apps/v1.',
            { omitZero: true },
          ),
        }),
      },
      toHub: templateGenerationToAnnotation,
      fromHub: templateGenerationToField,
      orphansByDefault: true,
    },
  },
  fields: {
    spec: s.struct('DaemonSetSpec', 'Desired state of the DaemonSet.', specFields, {
      rules: [selectorIsKept([DEFAULTS_FROM_TEMPLATE])],
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
    defaultLabels(daemonSet, context);
    const text = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
    // Text that is not a number is rejected by the rule below.
    if (text === undefined || (wholeNumber(text) ?? 1) < 1) setTemplateGeneration(daemonSet, 1);
  },
  onUpdate: (daemonSet, old, context) => {
    defaultLabels(daemonSet, context);
    const before = templateGenerationOf(old) ?? 0;
    setTemplateGeneration(daemonSet, deepEqual(daemonSet.spec.template, old.spec.template) ? before : before + 1);
  },
  onStatusUpdate: (daemonSet, old) => keepAnnotation(daemonSet, old, TEMPLATE_GENERATION_ANNOTATION),
  onExport: ({ metadata }) => {
    delete metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  },
  rules: [generationIsNumber],
  warnings: (daemonSet, old) => changedTemplateWarnings(daemonSet, old, daemonSet.spec.template),
  columns: ({ text, integer }) => [
    name,
    integer('Desired', 'Number of nodes that should run the pod.', ({ status }) => status?.desiredNumberScheduled),
    integer('Current', 'Number of these nodes that run the pod.', ({ status }) => status?.currentNumberScheduled),
    integer('Ready', 'Number of nodes whose pod is ready.', ({ status }) => status?.numberReady),
    integer(
      'Up-to-date',
      'Number of nodes whose pod was created from the current template.',
      ({ status }) => status?.updatedNumberScheduled,
    ),
    integer('Available', 'Number of nodes whose pod is available.', ({ status }) => status?.numberAvailable),
    text('Node Selector', 'Node selector of the pod template.', ({ spec }) =>
      labelsText(spec?.template?.spec?.nodeSelector),
    ),
    age,
    ...workloadColumns,
  ],
});
export type DaemonSet = ObjectOf<typeof DaemonSet>;

function defaultLabels(daemonSet: Templated, { apiVersion }: HookContext): void {
  if (apiVersion === DEFAULTS_FROM_TEMPLATE) labelsFromTemplate(daemonSet);
}

function setTemplateGeneration(daemonSet: KubeObject, generation: number): void {
  daemonSet.metadata = withNumberAnnotation(daemonSet, TEMPLATE_GENERATION_ANNOTATION, generation).metadata;
}

function generationIsNumber({ metadata }: KubeObject): readonly FieldError[] {
  const text = metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return text === undefined || wholeNumber(text) !== undefined
    ? []
    : [invalid(`metadata.annotations[${TEMPLATE_GENERATION_ANNOTATION}]`, text, 'must be a whole number')];
}
