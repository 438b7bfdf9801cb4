import { addAll } from '../../../base/collections/add-all.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { forbidden, invalid } from '../../../schema/field-error.ts';
import { dnsLabel, nameRule } from '../../../schema/names.ts';
import type { ObjectType, Rule, RuleContext } from '../../../schema/schema.ts';
import { age, name, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { defineKind, type HookContext, type KubeObject, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate, type Templated } from '../../shapes/workload/template-labels.ts';
import { selectsSomething } from '../../shapes/workload/workload-selector.ts';
import {
  collisionsGrow,
  conditionFields,
  counter,
  countersWithin,
  minReadySeconds,
  observedGeneration,
  scalable,
} from '../../shapes/workload/workload-status.ts';
import { claimSpecWarnings } from '../../warnings/fractions.ts';
import { changedTemplateWarnings } from '../../warnings/workload.ts';
import { updateStrategyOf } from './stateful-set-strategy.ts';
import { StatefulPodTemplate, VolumeClaimTemplates } from './stateful-set-template.ts';

/** The version in which labels and selector default to those of the template. */
const DEFAULTS_FROM_TEMPLATE = 'apps/v1beta1';

const managementPolicy: Rule<string> = (word) =>
  word === 'OrderedReady' || word === 'Parallel'
    ? undefined
    : invalid('', word, "must be 'OrderedReady' or 'Parallel'");

/** Checked on create only: names stored before this rule existed stay valid. */
const serviceName: Rule<string> = (name, { operation }) =>
  operation === 'create' ? dnsLabel(name).map((complaint) => invalid('', name, complaint)) : undefined;

const RetentionPolicy = s.struct(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
  'What happens to the claims created from volumeClaimTemplates when they are no longer needed. By default they are kept.',
  {
    whenDeleted: s.enum(
      ['Retain', 'Delete'],
      'Whether claims are kept (`Retain`) or deleted (`Delete`) when the StatefulSet is deleted. Defaults to Retain.',
      { default: 'Retain' },
    ),
    whenScaled: s.enum(
      ['Retain', 'Delete'],
      'Whether the claims of pods removed by scaling down are kept (`Retain`) or deleted (`Delete`). Defaults to Retain.',
      { default: 'Retain' },
    ),
  },
);

const specFields = {
  replicas: s.int32('Number of pods to run. Defaults to 1; 0 stops them all.', { min: 0, default: 1 }),
  selector: s.use(
    LabelSelector,
    "Label selector for the pods this StatefulSet manages. It must match the labels of the pod template and cannot be changed after creation. In apps/v1beta1 it defaults to the template's labels.",
    { required: true, rules: [selectsSomething('statefulset')] },
  ),
  template: s.use(
    StatefulPodTemplate,
    'Template of the pods. Each pod is named `<StatefulSet>-<ordinal>`. The only allowed restartPolicy is Always.',
    { zero: true },
  ),
  volumeClaimTemplates: VolumeClaimTemplates,
  serviceName: s.string(
    'Name of the headless Service that gives the pods their DNS names (`<pod>.<service>.<namespace>.svc`). It is not created for you, and the name cannot be changed after creation.',
    { default: '', rules: [serviceName] },
  ),
  podManagementPolicy: s.string(
    '`OrderedReady` creates pods one by one in ascending order, each after the one before it is ready, and deletes them in reverse; `Parallel` creates and deletes them all at once. Defaults to OrderedReady; cannot be changed after creation.',
    { default: 'OrderedReady', rules: [managementPolicy] },
  ),
  updateStrategy: updateStrategyOf('RollingUpdate'),
  revisionHistoryLimit: s.int32(
    'Number of old ControllerRevisions to keep for rollbacks. Defaults to 10; a negative number keeps all of them.',
    { default: 10 },
  ),
  minReadySeconds,
  persistentVolumeClaimRetentionPolicy: s.use(RetentionPolicy, { pointer: true }),
  ordinals: s.object(
    'StatefulSetOrdinals',
    'Which ordinals the pods get. By default they run from 0 to replicas - 1.',
    {
      start: s.int32('Ordinal of the first pod; the others count up from it. Defaults to 0.', { min: 0, default: 0 }),
    },
  ),
};

const StatefulSetStatus = s.struct(
  'StatefulSetStatus',
  'Most recently observed state of the StatefulSet, written by its controller.',
  {
    observedGeneration,
    replicas: s.int32('Number of pods the controller has created.', { min: 0, zero: true }),
    readyReplicas: counter('Number of pods whose Ready condition is True.'),
    currentReplicas: counter('Number of pods that run currentRevision.'),
    updatedReplicas: counter('Number of pods that run updateRevision.'),
    currentRevision: s.string(
      'Name of the ControllerRevision that pods run which the rolling update has not reached yet.',
      { omitZero: true },
    ),
    updateRevision: s.string(
      'Name of the ControllerRevision that pods are being updated to. Equals currentRevision when no update is in progress.',
      { omitZero: true },
    ),
    collisionCount: s.int32(
      'Number of times the generated name of a ControllerRevision was already taken. The controller hashes it into the next name, so it never decreases.',
      { min: 0 },
    ),
    conditions: s.listMap(
      s.object('StatefulSetCondition', 'One observation about the state of a StatefulSet.', conditionFields),
      'Latest observations of the state of the StatefulSet, at most one per type.',
      { keys: ['type'] },
    ),
    availableReplicas: s.int32('Number of pods that have been ready for at least minReadySeconds.', {
      min: 0,
      default: 0,
    }),
  },
  {
    rules: [
      countersWithin(
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        'status.readyReplicas',
      ),
      collisionsGrow,
    ],
  },
);

/** Runs pods with stable names and storage, in order. */
export const StatefulSet = defineKind({
  kind: 'StatefulSet',
  short: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Runs a number of pods with stable identities: each keeps its ordinal name, its DNS name and its persistent volumes when it is replaced. Pods are started, updated and stopped in order unless podManagementPolicy is Parallel.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': { orphansByDefault: true },
    'apps/v1beta1': {
      fields: {
        spec: s.struct('StatefulSetSpec', 'Desired state of the StatefulSet.', {
          ...specFields,
          selector: s.use(specFields.selector, { default: selectorFromTemplate }),
          serviceName: s.use(specFields.serviceName, { zero: true }),
          updateStrategy: updateStrategyOf('OnDelete'),
        }),
      },
      orphansByDefault: true,
    },
  },
  fields: {
    spec: s.struct('StatefulSetSpec', 'Desired state of the StatefulSet.', specFields, {
      rules: [onlyMutableFieldsChange],
    }),
    status: StatefulSetStatus,
  },
  name: nameRule(dnsLabel),
  subresources: scalable,
  generation: true,
  initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  onCreate: defaultLabels,
  onUpdate: (statefulSet, _old, context) => defaultLabels(statefulSet, context),
  warnings: statefulSetWarnings,
  columns: ({ text }) => [
    name,
    text('Ready', 'Number of ready pods, of the desired number.', ({ spec, status }) => {
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    age,
    ...containerColumns.map(wide),
  ],
});
export type StatefulSet = ObjectOf<typeof StatefulSet>;

function defaultLabels(statefulSet: Templated, { apiVersion }: HookContext): void {
  if (apiVersion === DEFAULTS_FROM_TEMPLATE) labelsFromTemplate(statefulSet);
}

type Spec = ObjectType<typeof specFields>;

const keysOf = (spec: Spec) => Object.keys(spec) as (keyof Spec)[];

const MUTABLE_FIELDS = new Set<keyof Spec>([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]);

/** Checks that everything that identifies the pods and their claims stays the same. */
function onlyMutableFieldsChange(spec: Spec, { old }: RuleContext<Spec>) {
  if (!old) return undefined;
  const fields = new Set([...keysOf(spec), ...keysOf(old)]);
  const kept = [...fields].every((field) => MUTABLE_FIELDS.has(field) || deepEqual(spec[field], old[field]));
  if (kept) return undefined;
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return forbidden('', detail);
}

function statefulSetWarnings(set: KubeObject & { spec: Spec }, old: KubeObject | undefined): string[] {
  const found = changedTemplateWarnings(set, old, set.spec.template);
  set.spec.volumeClaimTemplates?.forEach(({ spec = {} }, index) => {
    addAll(found, claimSpecWarnings(`spec.volumeClaimTemplates[${index}]`, spec));
  });
  if ((set.spec.revisionHistoryLimit ?? 0) < 0) {
    const advice = 'a negative value retains all historical revisions; a value >= 0 is recommended';
    found.push(`spec.revisionHistoryLimit: ${advice}`);
  }
  return found;
}
