import { s } from '../../schema/builders.ts';
import type { FieldError } from '../../schema/field-error.ts';
import { invalid, required } from '../../schema/field-error.ts';
import { pathSegment } from '../../schema/names.ts';
import { matches } from '../../schema/rules.ts';
import type { Rule } from '../../schema/schema.ts';
import { defineKind, type ObjectOf } from '../kind.ts';

/** Metrics that this version has no field for stand in this annotation. */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

const DEFAULT_UTILIZATION = 80;

const CrossVersionObjectReference = s.object(
  'CrossVersionObjectReference',
  {
    kind: s.string({ zero: true, required: true, rules: [matches(pathSegment)] }),
    name: s.string({ zero: true, required: true, rules: [matches(pathSegment)] }),
    apiVersion: s.string(),
  },
  { atomic: true, rules: [namesGroup] },
);

/** Zero was allowed once; who has it may keep it. */
const atLeastOne: Rule<number> = (count, { old }) =>
  count >= 1 || (count === 0 && old === 0) ? undefined : invalid('', count, 'must be greater than or equal to 1');

const aboveZero: Rule<number> = (percentage) =>
  percentage > 0 ? undefined : invalid('', percentage, 'must be greater than 0');

/** Sets the size of a workload by how busy its pods are. */
export const HorizontalPodAutoscaler = defineKind({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  short: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'Sets the number of pods of another object, so that each is about as busy as wanted.',
  versions: { 'autoscaling/v1': {} },
  fields: {
    spec: s.object(
      'HorizontalPodAutoscalerSpec',
      {
        scaleTargetRef: s.use(CrossVersionObjectReference, { zero: true, description: 'The object that is scaled.' }),
        minReplicas: s.int32({ default: 1, rules: [atLeastOne], description: 'How few pods there may be.' }),
        maxReplicas: s.int32({ zero: true, description: 'How many pods there may be.' }),
        targetCPUUtilizationPercentage: s.int32({
          rules: [aboveZero],
          description: 'How much of the CPU they request the pods should use, on average; 80 where nothing is said.',
        }),
      },
      { default: {}, rules: [maxFitsMin], description: 'What is scaled, and by what.' },
    ),
    status: s.object(
      'HorizontalPodAutoscalerStatus',
      {
        observedGeneration: s.int64({ description: 'The generation that the rest speaks of.' }),
        lastScaleTime: s.time({ description: 'When the number of pods was last changed.' }),
        currentReplicas: s.int32({ min: 0, zero: true, description: 'How many pods there are.' }),
        desiredReplicas: s.int32({
          min: 0,
          zero: true,
          description: 'How many there should be by the last reckoning.',
        }),
        currentCPUUtilizationPercentage: s.int32({ description: 'How busy the pods are.' }),
      },
      { default: {}, description: 'What was found and done.' },
    ),
  },
  subresources: { status: true },
  initialStatus: () => ({ currentReplicas: 0, desiredReplicas: 0 }),
  onCreate: defaultUtilization,
  onUpdate: defaultUtilization,
});
export type HorizontalPodAutoscaler = ObjectOf<typeof HorizontalPodAutoscaler>;

function defaultUtilization({ metadata, spec }: any): void {
  if (metadata.annotations?.[METRICS_ANNOTATION] === undefined) {
    spec.targetCPUUtilizationPercentage ??= DEFAULT_UTILIZATION;
  }
}

function maxFitsMin({ minReplicas, maxReplicas }: any): FieldError[] {
  const found: FieldError[] = [];
  if (maxReplicas === 0) found.push(required('maxReplicas', 'must be set and greater than 0'));
  if (maxReplicas < 0) found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < minReplicas) {
    found.push(invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return found;
}

/** Only a ReplicationController has no group. What was stored without one stays as long as it is not touched. */
function namesGroup(
  { kind, apiVersion = '' }: any,
  { old }: { readonly old: any | undefined },
): FieldError | undefined {
  if (old && old.kind === kind && (old.apiVersion ?? '') === apiVersion) return undefined;
  const parts = apiVersion.split('/');
  if (parts.length > 2) return invalid('apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  const grouped = parts.length === 2 && parts[0] !== '';
  return grouped || kind === 'ReplicationController'
    ? undefined
    : invalid('apiVersion', apiVersion, 'apiVersion must specify API group');
}
