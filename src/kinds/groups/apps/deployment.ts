import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid } from '../../../schema/field-error.ts';
import { age, name, text, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { selectorQuery } from '../../columns/selector.ts';
import { keepAnnotation, wholeNumber } from '../../conversion/number-annotation.ts';
import { ROLLBACK_ANNOTATION, rollbackToAnnotation, rollbackToField } from '../../conversion/rollback-to.ts';
import { UNLIMITED } from '../../conversion/unlimited.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type HookContext, type ObjectOf } from '../../kind.ts';
import type { IntOrPercent } from '../../shapes/meta/int-or-percent.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate } from '../../shapes/workload/template-labels.ts';
import { labelsMatchSelector, selectorIsKept, selectsSomething } from '../../shapes/workload/workload-selector.ts';
import { collisionsGrow, conditionFields, counter, countersWithin } from '../../shapes/workload/workload-status.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { workloadWarnings } from '../../warnings/workload.ts';
import { RollbackConfig } from './deployment-rollback.ts';
import { strategyOf } from './deployment-strategy.ts';

/** The versions in which labels and selector follow from the template, and the selector may change. */
const FROM_TEMPLATE = ['apps/v1beta1', 'extensions/v1beta1'];

const template = workloadTemplate('ReplicaSet', [labelsMatchSelector]);

/** What differs between the served versions. */
interface Presets {
  readonly step: IntOrPercent;
  readonly history: number;
  readonly deadline: number;
}

function specFields({ step, history, deadline }: Presets) {
  return {
    replicas: s.int32({ min: 0, default: 1, description: 'How many pods there should be.' }),
    selector: s.use(LabelSelector, {
      required: true,
      rules: [selectsSomething('deployment')],
      description: "Which pods are the Deployment's; the labels of the template must fit it.",
    }),
    template: s.use(template, { zero: true, description: 'The pods; changing it starts a rollout.' }),
    strategy: strategyOf(step),
    minReadySeconds: s.int32({
      min: 0,
      omitZero: true,
      description: 'How long a new pod must have been ready before it counts as available.',
    }),
    revisionHistoryLimit: s.int32({
      min: 0,
      default: history,
      description: 'How many old ReplicaSets are kept to go back to.',
    }),
    paused: s.boolean({ omitZero: true, description: 'Changes of the template wait until this is false again.' }),
    progressDeadlineSeconds: s.int32({
      min: 0,
      default: deadline,
      description:
        'How long a rollout may go without progress before a condition says ProgressDeadlineExceeded. It does not run while the Deployment is paused.',
    }),
  };
}

const hub = specFields({ step: '25%', history: 10, deadline: 600 });

/** The spec of a version that has `rollbackTo`, and a selector that may be left out. */
function olderSpec(presets: Presets) {
  return s.object(
    'DeploymentSpec',
    {
      ...specFields(presets),
      selector: s.use(hub.selector, { default: selectorFromTemplate }),
      rollbackTo: s.use(RollbackConfig, {
        description: 'Asks for an earlier revision; cleared once the Deployment has gone back to it.',
      }),
    },
    { default: {}, description: 'What is wanted.' },
  );
}

const DeploymentStatus = s.object(
  'DeploymentStatus',
  {
    observedGeneration: s.int64({ min: 0, omitZero: true, description: 'The generation that the rest speaks of.' }),
    replicas: counter('How many pods there are.'),
    updatedReplicas: counter('How many of them come from the present template.'),
    readyReplicas: counter('How many of them are ready.'),
    availableReplicas: counter('How many have been ready for minReadySeconds.'),
    unavailableReplicas: counter('How many are still missing for all to be available.'),
    terminatingReplicas: s.int32({ min: 0, description: 'How many are on their way out.' }),
    conditions: s.listMap(s.object('DeploymentCondition', { ...conditionFields, lastUpdateTime: s.time() }), {
      keys: ['type'],
      description: 'What holds for the Deployment: Available, Progressing, ReplicaFailure.',
    }),
    collisionCount: s.int32({ min: 0, description: 'How often the name of a new ReplicaSet was taken already.' }),
  },
  {
    default: {},
    rules: [countersWithin(['updatedReplicas', 'readyReplicas', 'availableReplicas']), collisionsGrow],
    description: 'What there is.',
  },
);

const older = (apiVersion: string, presets: Presets) => ({
  fields: { spec: olderSpec(presets) },
  toHub: rollbackToAnnotation,
  fromHub: rollbackToField,
  orphansByDefault: true,
  deprecated: deprecation(apiVersion, 'Deployment'),
});

/** Keeps a number of pods alive through ReplicaSets, and moves them to a new template step by step. */
export const Deployment = defineKind({
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  short: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'A number of identical pods and how they are replaced when their template changes, with the way back to earlier templates.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': {
      orphansByDefault: true,
      deprecated: deprecation('apps/v1beta2', 'Deployment'),
    },
    'apps/v1beta1': older('apps/v1beta1', { step: '25%', history: 2, deadline: 600 }),
    'extensions/v1beta1': older('extensions/v1beta1', { step: 1, history: UNLIMITED, deadline: UNLIMITED }),
  },
  fields: {
    spec: s.object('DeploymentSpec', hub, {
      default: {},
      rules: [deadlineAfterReady, selectorIsKept(FROM_TEMPLATE)],
      description: 'What is wanted.',
    }),
    status: DeploymentStatus,
  },
  subresources: {
    status: true,
    scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
    others: ['rollback'],
  },
  generation: 'annotations',
  onCreate: labelLikeTemplate,
  onUpdate: (deployment, _old, context) => labelLikeTemplate(deployment, context),
  onStatusUpdate: (deployment, old) => {
    keepAnnotation(deployment, old, ROLLBACK_ANNOTATION);
    keepLabels(deployment, old);
  },
  rules: [rollbackIsRevision],
  warnings: workloadWarnings,
  columns: [
    name,
    text('Ready', 'How many pods are ready, of how many that should be.', ({ spec, status }) => {
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    text('Up-to-date', 'How many pods are as the template says.', ({ status }) => status?.updatedReplicas ?? 0),
    text('Available', 'How many pods have been ready long enough.', ({ status }) => status?.availableReplicas ?? 0),
    age,
    ...[
      ...containerColumns(),
      text('Selector', 'Which pods belong to it.', ({ spec }) => selectorQuery(spec?.selector, '<invalid>')),
    ].map(wide),
  ],
});
export type Deployment = ObjectOf<typeof Deployment>;

function labelLikeTemplate(deployment: any, { apiVersion }: HookContext): void {
  if (FROM_TEMPLATE.includes(apiVersion)) labelsFromTemplate(deployment);
}

/** The labels are the user's, and no part of what a controller reports. */
function keepLabels(deployment: any, old: any): void {
  const { labels: _, ...metadata } = deployment.metadata;
  const { labels } = old.metadata;
  deployment.metadata = labels ? { ...metadata, labels } : metadata;
}

function deadlineAfterReady(spec: any): FieldError | undefined {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  return deadline <= minReadySeconds
    ? invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')
    : undefined;
}

function rollbackIsRevision({ metadata }: any): readonly FieldError[] {
  const text = metadata.annotations?.[ROLLBACK_ANNOTATION];
  if (text === undefined) return [];
  const revision = wholeNumber(text);
  if (revision === undefined) {
    return [invalid(`metadata.annotations[${ROLLBACK_ANNOTATION}]`, text, 'must be a whole number')];
  }
  return revision < 0 ? [invalid('spec.rollback.version', revision, 'must be greater than or equal to 0')] : [];
}
