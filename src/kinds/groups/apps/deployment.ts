import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { selectorQuery } from '../../columns/selector.ts';
import { keepAnnotation, wholeNumber } from '../../conversion/number-annotation.ts';
import { ROLLBACK_ANNOTATION, rollbackToAnnotation, rollbackToField } from '../../conversion/rollback-to.ts';
import { UNLIMITED } from '../../conversion/unlimited.ts';
import { defineKind, type HookContext, type KubeObject, type ObjectOf } from '../../kind.ts';
import type { IntOrPercent } from '../../shapes/meta/int-or-percent.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate, type Templated } from '../../shapes/workload/template-labels.ts';
import { selectorIsKept, selectsSomething, templateMatchesSelector } from '../../shapes/workload/workload-selector.ts';
import {
  collisionsGrow,
  conditionFields,
  counter,
  countersWithin,
  minReadySeconds,
  observedGeneration,
  scalable,
} from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';
import { RollbackConfig } from './deployment-rollback.ts';
import { strategyOf } from './deployment-strategy.ts';

/** The versions in which labels and selector default to those of the template, and the selector may change. */
const DEFAULTS_FROM_TEMPLATE = ['apps/v1beta1', 'extensions/v1beta1'];

const template = workloadTemplate('ReplicaSet', [templateMatchesSelector]);

/** Defaults that differ between the served versions. */
interface Presets {
  readonly step: IntOrPercent;
  readonly history: number;
  readonly deadline: number;
}

function specFields({ step, history, deadline }: Presets) {
  return {
    replicas: s.int32('Number of pods to run. Defaults to 1; 0 stops them all.', { min: 0, default: 1 }),
    selector: s.use(
      LabelSelector,
      "Label selector for the pods this Deployment manages. It must match the labels of the pod template and cannot be changed after creation; in apps/v1beta1 and extensions/v1beta1 it defaults to the template's labels and may change.",
      { required: true, rules: [selectsSomething('deployment')] },
    ),
    template: s.use(
      template,
      'Template of the pods. Any change to it starts a rollout. The only allowed restartPolicy is Always.',
      { zero: true },
    ),
    strategy: strategyOf(step),
    minReadySeconds,
    revisionHistoryLimit: s.int32(
      'Number of old ReplicaSets to keep for rollbacks. Defaults to 10 (2 in apps/v1beta1, unlimited in extensions/v1beta1); 0 makes rollbacks impossible.',
      { min: 0, default: history },
    ),
    paused: s.boolean(
      'Suspends rollouts: changes to the pod template are recorded but not acted on until this is false again. Scaling still works.',
      { omitZero: true },
    ),
    progressDeadlineSeconds: s.int32(
      'Seconds a rollout may go without progress before the Progressing condition turns False with reason ProgressDeadlineExceeded. Must be greater than minReadySeconds; defaults to 600 (no deadline in extensions/v1beta1). Not counted while the Deployment is paused.',
      { min: 0, default: deadline },
    ),
  };
}

const hub = specFields({ step: '25%', history: 10, deadline: 600 });

/** The spec of a version with `rollbackTo` and an optional selector. */
function olderSpec(presets: Presets) {
  return s.struct('DeploymentSpec', 'Desired state of the Deployment.', {
    ...specFields(presets),
    selector: s.use(hub.selector, { default: selectorFromTemplate }),
    rollbackTo: s.use(
      RollbackConfig,
      'Rolls the Deployment back to this revision. Cleared by the controller once it has done so. Not available in apps/v1.',
    ),
  });
}

const DeploymentStatus = s.struct(
  'DeploymentStatus',
  'Most recently observed state of the Deployment, written by its controller.',
  {
    observedGeneration,
    replicas: counter('Number of pods that the selector matches and that are not terminating.'),
    updatedReplicas: counter('Number of pods that were created from the current pod template.'),
    readyReplicas: counter('Number of pods whose Ready condition is True.'),
    availableReplicas: counter('Number of pods that have been ready for at least minReadySeconds.'),
    unavailableReplicas: counter(
      'Number of pods still missing until spec.replicas are available: either not yet created, or running but not available.',
    ),
    terminatingReplicas: s.int32('Number of pods that have a deletion timestamp but have not gone yet.', { min: 0 }),
    conditions: s.listMap(
      s.object('DeploymentCondition', 'One observation about the state of a Deployment.', {
        ...conditionFields,
        lastUpdateTime: s.time('When the condition was last written, even if its status did not change.'),
      }),
      'Latest observations of the state of the Deployment, at most one per type: Available, Progressing and ReplicaFailure.',
      { keys: ['type'] },
    ),
    collisionCount: s.int32(
      'Number of times the generated name of a new ReplicaSet was already taken. The controller hashes it into the next name, so it never decreases.',
      { min: 0 },
    ),
  },
  { rules: [countersWithin(['updatedReplicas', 'readyReplicas', 'availableReplicas']), collisionsGrow] },
);

const older = (presets: Presets) => ({
  fields: { spec: olderSpec(presets) },
  toHub: rollbackToAnnotation,
  fromHub: rollbackToField,
  resetFields: { status: ['metadata.labels'] },
  subresources: { rollback: true as const },
  orphansByDefault: true,
});

/** Runs interchangeable pods through ReplicaSets, and rolls out changes of their template. */
export const Deployment = defineKind({
  kind: 'Deployment',
  short: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Runs a number of interchangeable pods through ReplicaSets, and replaces them in a controlled rollout when the pod template changes. Earlier templates are kept, so that a rollout can be undone.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': { orphansByDefault: true },
    'apps/v1beta1': older({ step: '25%', history: 2, deadline: 600 }),
    'extensions/v1beta1': older({ step: 1, history: UNLIMITED, deadline: UNLIMITED }),
  },
  fields: {
    spec: s.struct('DeploymentSpec', 'Desired state of the Deployment.', hub, {
      rules: [deadlineAfterReady, selectorIsKept(DEFAULTS_FROM_TEMPLATE)],
    }),
    status: DeploymentStatus,
  },
  subresources: scalable,
  generation: 'annotations',
  onCreate: defaultLabels,
  onUpdate: (deployment, _old, context) => defaultLabels(deployment, context),
  onStatusUpdate: (deployment, old) => {
    keepAnnotation(deployment, old, ROLLBACK_ANNOTATION);
    keepLabels(deployment, old);
  },
  rules: [rollbackIsRevision],
  warnings: workloadWarnings,
  columns: ({ text }) => [
    name,
    text('Ready', 'Number of ready pods, of the desired number.', ({ spec, status }) => {
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    text(
      'Up-to-date',
      'Number of pods created from the current template.',
      ({ status }) => status?.updatedReplicas ?? 0,
    ),
    text('Available', 'Number of available pods.', ({ status }) => status?.availableReplicas ?? 0),
    age,
    ...[
      ...containerColumns,
      text('Selector', 'Label selector for the pods.', ({ spec }) => selectorQuery(spec?.selector, '<invalid>')),
    ].map(wide),
  ],
});
export type Deployment = ObjectOf<typeof Deployment>;

function defaultLabels(deployment: Templated, { apiVersion }: HookContext): void {
  if (DEFAULTS_FROM_TEMPLATE.includes(apiVersion)) labelsFromTemplate(deployment);
}

/** A status update does not change labels. */
function keepLabels(deployment: KubeObject, old: KubeObject): void {
  const { labels: _, ...metadata } = deployment.metadata;
  const { labels } = old.metadata;
  deployment.metadata = labels ? { ...metadata, labels } : metadata;
}

function deadlineAfterReady(spec: ObjectType<typeof hub>): FieldError | undefined {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  return deadline <= minReadySeconds
    ? invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')
    : undefined;
}

function rollbackIsRevision({ metadata }: KubeObject): readonly FieldError[] {
  const text = metadata.annotations?.[ROLLBACK_ANNOTATION];
  if (text === undefined) return [];
  const revision = wholeNumber(text);
  if (revision === undefined) {
    return [invalid(`metadata.annotations[${ROLLBACK_ANNOTATION}]`, text, 'must be a whole number')];
  }
  return revision < 0 ? [invalid('spec.rollback.version', revision, 'must be greater than or equal to 0')] : [];
}
