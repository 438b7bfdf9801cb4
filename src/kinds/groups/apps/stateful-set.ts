import { deepEqual } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { forbidden, invalid } from '../../../schema/field-error.ts';
import { dnsLabel, nameRule } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { age, name, text, wide } from '../../columns/column.ts';
import { containerColumns } from '../../columns/containers.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type HookContext, type ObjectOf } from '../../kind.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { labelsFromTemplate, selectorFromTemplate } from '../../shapes/workload/template-labels.ts';
import { selectsSomething } from '../../shapes/workload/workload-selector.ts';
import { collisionsGrow, conditionFields, counter, countersWithin } from '../../shapes/workload/workload-status.ts';
import { claimSpecWarnings } from '../../warnings/fractions.ts';
import { changedTemplateWarnings } from '../../warnings/workload.ts';
import { updateStrategyOf } from './stateful-set-strategy.ts';
import { StatefulPodTemplate, VolumeClaimTemplates } from './stateful-set-template.ts';

/** The version in which labels and selector follow from the template. */
const FROM_TEMPLATE = 'apps/v1beta1';

const managementWord: Rule<string> = (word) =>
  word === 'OrderedReady' || word === 'Parallel'
    ? undefined
    : invalid('', word, "must be 'OrderedReady' or 'Parallel'");

/** One that was stored before the rule may stay. */
const serviceName: Rule<string> = (name, { operation }) =>
  operation === 'create' ? dnsLabel(name).map((complaint) => invalid('', name, complaint)) : undefined;

const RetentionPolicy = s.object(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: s.enum(['Retain', 'Delete'], {
      default: 'Retain',
      description: 'Whether claims go when the set is deleted.',
    }),
    whenScaled: s.enum(['Retain', 'Delete'], {
      default: 'Retain',
      description: 'Whether claims go when their pods do because there are fewer replicas.',
    }),
  },
  { default: {}, description: 'What becomes of claims that no pod needs any more.' },
);

const specFields = {
  replicas: s.int32({ min: 0, default: 1, description: 'How many pods there should be.' }),
  selector: s.use(LabelSelector, {
    required: true,
    rules: [selectsSomething('statefulset')],
    description: "Which pods are the StatefulSet's; the labels of the template must fit it.",
  }),
  template: s.use(StatefulPodTemplate, {
    zero: true,
    description: 'The pods; each is named after the set and its ordinal.',
  }),
  volumeClaimTemplates: VolumeClaimTemplates,
  serviceName: s.string({
    default: '',
    rules: [serviceName],
    description: 'The service that gives the pods their names in DNS. It is made by somebody else.',
  }),
  podManagementPolicy: s.string({
    default: 'OrderedReady',
    rules: [managementWord],
    description: 'OrderedReady starts a pod when those before it are ready; Parallel starts and ends them all at once.',
  }),
  updateStrategy: updateStrategyOf('RollingUpdate'),
  revisionHistoryLimit: s.int32({ default: 10, description: 'How many old templates are kept to go back to.' }),
  minReadySeconds: s.int32({
    min: 0,
    omitZero: true,
    description: 'How long a new pod must have been ready before it counts as available.',
  }),
  persistentVolumeClaimRetentionPolicy: RetentionPolicy,
  ordinals: s.object('StatefulSetOrdinals', {
    start: s.int32({ min: 0, default: 0, description: 'The ordinal of the first pod.' }),
  }),
};

const StatefulSetStatus = s.object(
  'StatefulSetStatus',
  {
    observedGeneration: s.int64({ min: 0, omitZero: true, description: 'The generation that the rest speaks of.' }),
    replicas: s.int32({ min: 0, zero: true, description: 'How many pods there are.' }),
    readyReplicas: counter('How many of them are ready.'),
    currentReplicas: counter('How many of them come from currentRevision.'),
    updatedReplicas: counter('How many of them come from updateRevision.'),
    currentRevision: s.string({ omitZero: true, description: 'The template of the pods that are not updated yet.' }),
    updateRevision: s.string({ omitZero: true, description: 'The template that pods are moving to.' }),
    collisionCount: s.int32({ min: 0, description: 'How often the name of a new revision was taken already.' }),
    conditions: s.listMap(s.object('StatefulSetCondition', conditionFields), { keys: ['type'] }),
    availableReplicas: s.int32({ min: 0, default: 0, description: 'How many have been ready for minReadySeconds.' }),
  },
  {
    default: {},
    rules: [
      countersWithin(
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        'status.readyReplicas',
      ),
      collisionsGrow,
    ],
    description: 'What there is.',
  },
);

const older = (apiVersion: string) => ({
  orphansByDefault: true,
  deprecated: deprecation(apiVersion, 'StatefulSet'),
});

/** Keeps pods with names and storage of their own, in order. */
export const StatefulSet = defineKind({
  group: 'apps',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  short: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'A number of pods that are not alike: each keeps its name and its storage, and they start and end in order.',
  versions: {
    'apps/v1': {},
    'apps/v1beta2': older('apps/v1beta2'),
    'apps/v1beta1': {
      fields: {
        spec: s.object(
          'StatefulSetSpec',
          {
            ...specFields,
            selector: s.use(specFields.selector, { default: selectorFromTemplate }),
            serviceName: s.use(specFields.serviceName, { zero: true }),
            updateStrategy: updateStrategyOf('OnDelete'),
          },
          { default: {}, description: 'What is wanted.' },
        ),
      },
      ...older('apps/v1beta1'),
    },
  },
  fields: {
    spec: s.object('StatefulSetSpec', specFields, {
      default: {},
      rules: [littleChanges],
      description: 'What is wanted.',
    }),
    status: StatefulSetStatus,
  },
  name: nameRule(dnsLabel),
  subresources: {
    status: true,
    scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
  },
  generation: true,
  initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  onCreate: labelLikeTemplate,
  onUpdate: (statefulSet, _old, context) => labelLikeTemplate(statefulSet, context),
  warnings: statefulSetWarnings,
  columns: [
    name,
    text('Ready', 'How many pods are ready, of how many that should be.', ({ spec, status }) => {
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
    }),
    age,
    ...containerColumns().map(wide),
  ],
});
export type StatefulSet = ObjectOf<typeof StatefulSet>;

function labelLikeTemplate(statefulSet: any, { apiVersion }: HookContext): void {
  if (apiVersion === FROM_TEMPLATE) labelsFromTemplate(statefulSet);
}

const CHANGEABLE = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]);

/** On the spec: who the pods are, and what they claim, is for good. */
function littleChanges(spec: any, { old }: { readonly old: any }) {
  if (!old) return undefined;
  const fields = new Set([...Object.keys(spec), ...Object.keys(old)]);
  const kept = [...fields].every((field) => CHANGEABLE.has(field) || deepEqual(spec[field], old[field]));
  if (kept) return undefined;
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return forbidden('', detail);
}

function statefulSetWarnings(set: any, old: any): string[] {
  const found = changedTemplateWarnings(set, old, set.spec.template);
  set.spec.volumeClaimTemplates?.forEach(({ spec = {} }: any, index: number) => {
    found.push(...claimSpecWarnings(`spec.volumeClaimTemplates[${index}]`, spec));
  });
  if ((set.spec.revisionHistoryLimit ?? 0) < 0) {
    const advice = 'a negative value retains all historical revisions; a value >= 0 is recommended';
    found.push(`spec.revisionHistoryLimit: ${advice}`);
  }
  return found;
}
