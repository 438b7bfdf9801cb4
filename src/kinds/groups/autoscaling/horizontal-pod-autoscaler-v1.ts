/**
 * HorizontalPodAutoscaler in autoscaling/v1. It has fields for CPU utilization only; everything else in the stored
 * version is kept in annotations, in the format of Kubernetes.
 */
import { s } from '../../../schema/builders.ts';
import { decode } from '../../../schema/decode/decode.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import type { KubeObject, VersionDefinition } from '../../kind.ts';
import type { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { conditionFields } from '../../shapes/workload/workload-status.ts';
import { formatBehavior, parseBehavior, parseList } from './annotation-json.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';
import { cpuUtilization, DEFAULT_CPU_UTILIZATION_PERCENT, type MetricSpec, type MetricStatus } from './metric.ts';
import {
  type Annotations,
  decodeMetrics,
  encodeMetrics,
  specMetrics,
  statusMetrics,
} from './metrics-in-annotations.ts';
import type { HorizontalPodAutoscalerBehavior } from './scaling-behavior.ts';

const BEHAVIOR_ANNOTATION = 'autoscaling.alpha.kubernetes.io/behavior';
const CONDITIONS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/conditions';

/** Annotations that are fields in the stored version. */
const RESERVED_ANNOTATIONS = new Set([
  specMetrics.key,
  specMetrics.fullKey,
  statusMetrics.key,
  statusMetrics.fullKey,
  BEHAVIOR_ANNOTATION,
  CONDITIONS_ANNOTATION,
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
]);

export const HorizontalPodAutoscalerCondition = s.object(
  'HorizontalPodAutoscalerCondition',
  'One observation about the state of an autoscaler.',
  conditionFields,
);

const Spec = s.object('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: s.use(
    CrossVersionObjectReference,
    'The object to scale: a Deployment, StatefulSet, ReplicaSet, or any other kind with a `scale` subresource, in the same namespace.',
    { zero: true, atomic: true },
  ),
  minReplicas: s.int32('Lower bound for the number of pods. Defaults to 1.', { default: 1 }),
  maxReplicas: s.int32('Upper bound for the number of pods. Required; must not be less than minReplicas.', {
    zero: true,
  }),
  targetCPUUtilizationPercentage: s.int32(
    'Average CPU usage to aim for, across all pods, as a percentage of the CPU they request. Defaults to 80. Other metrics can be set in autoscaling/v2 only.',
  ),
});

const Status = s.object('HorizontalPodAutoscalerStatus', {
  observedGeneration: s.int64('The metadata.generation that this status was computed from.'),
  lastScaleTime: s.time('When the autoscaler last changed the number of pods. Limits how soon it may change it again.'),
  currentReplicas: s.int32('Number of pods the scaled object had when the autoscaler last looked.', { zero: true }),
  desiredReplicas: s.int32('Number of pods the autoscaler last computed from the metrics.', { zero: true }),
  currentCPUUtilizationPercentage: s.int32(
    'Average CPU usage across all pods, as a percentage of the CPU they request. Absent until metrics are available.',
  ),
});

export const autoscalingV1: VersionDefinition = {
  fields: {
    spec: s.use(
      Spec,
      'Desired behavior of the autoscaler: what it scales, within which bounds, and for which CPU usage.',
      { zero: true, derive: defaultTarget },
    ),
    status: s.use(Status, 'Most recently observed state of the autoscaler, written by its controller.', {
      default: {},
    }),
  },
  toHub,
  fromHub,
};

/** An autoscaler in this version, and one in the stored version as far as it differs. */
interface Autoscaler extends KubeObject {
  spec: TypeOf<typeof Spec>;
  status: TypeOf<typeof Status>;
}

/** The parts of a decoded object that the default target depends on. */
type Decoded = Pick<Autoscaler, 'metadata'> & Partial<Pick<Autoscaler, 'spec'>>;

type SharedSpec = Omit<Autoscaler['spec'], 'targetCPUUtilizationPercentage'>;
type SharedStatus = Omit<Autoscaler['status'], 'currentCPUUtilizationPercentage' | 'currentReplicas'>;

interface Stored extends KubeObject {
  spec: SharedSpec & { metrics: readonly MetricSpec[]; behavior?: HorizontalPodAutoscalerBehavior };
  status: SharedStatus & {
    currentReplicas?: number;
    currentMetrics?: readonly MetricStatus[];
    conditions?: readonly TypeOf<typeof HorizontalPodAutoscalerCondition>[];
  };
}

/** A hook: removes the reserved annotations, which the stored version does not have. */
export function dropReservedAnnotations(autoscaler: KubeObject): void {
  autoscaler.metadata = withReservedAnnotations(autoscaler.metadata, {});
}

/** Returns the default target: CPU utilization if there is no metric. */
function defaultTarget({ metadata, spec = decode(Spec, {}) }: Decoded): Autoscaler['spec'] {
  const encoded = { cpu: spec.targetCPUUtilizationPercentage, annotations: metadata.annotations ?? {} };
  return decodeMetrics(specMetrics, encoded).length
    ? spec
    : { ...spec, targetCPUUtilizationPercentage: DEFAULT_CPU_UTILIZATION_PERCENT };
}

function toHub({ metadata, spec, status, ...rest }: Autoscaler): Stored {
  const annotations: Annotations = metadata.annotations ?? {};
  const { targetCPUUtilizationPercentage, ...size } = spec;
  const { currentCPUUtilizationPercentage, currentReplicas, ...progress } = status;
  const metrics = decodeMetrics(specMetrics, { cpu: targetCPUUtilizationPercentage, annotations });
  const behavior = parseBehavior(annotations[BEHAVIOR_ANNOTATION]);
  const currentMetrics = decodeMetrics(statusMetrics, { cpu: currentCPUUtilizationPercentage, annotations });
  const conditions = parseList(HorizontalPodAutoscalerCondition, annotations[CONDITIONS_ANNOTATION]);
  return {
    ...rest,
    metadata: withReservedAnnotations(metadata, {}),
    spec: {
      ...size,
      metrics: metrics.length ? metrics : [cpuUtilization(DEFAULT_CPU_UTILIZATION_PERCENT)],
      ...(behavior ? { behavior } : {}),
    },
    status: {
      ...progress,
      ...(currentReplicas ? { currentReplicas } : {}),
      ...(currentMetrics.length ? { currentMetrics } : {}),
      ...(conditions ? { conditions } : {}),
    },
  };
}

function fromHub({ metadata, spec, status, ...rest }: Stored): Autoscaler {
  const { metrics, behavior, ...size } = spec;
  const { currentMetrics = [], conditions, currentReplicas = 0, ...progress } = status;
  const wanted = encodeMetrics(specMetrics, metrics);
  const found = encodeMetrics(statusMetrics, currentMetrics);
  return {
    ...rest,
    metadata: withReservedAnnotations(metadata, {
      ...wanted.annotations,
      ...found.annotations,
      ...(behavior ? { [BEHAVIOR_ANNOTATION]: formatBehavior(behavior) } : {}),
      ...(conditions ? { [CONDITIONS_ANNOTATION]: JSON.stringify(conditions) } : {}),
    }),
    spec: { ...size, ...(wanted.cpu === undefined ? {} : { targetCPUUtilizationPercentage: wanted.cpu }) },
    status: {
      ...progress,
      currentReplicas,
      ...(found.cpu === undefined ? {} : { currentCPUUtilizationPercentage: found.cpu }),
    },
  };
}

/** Replaces the reserved annotations with the given ones. */
function withReservedAnnotations({ annotations = {}, ...metadata }: ObjectMeta, reserved: Annotations): ObjectMeta {
  const own = Object.entries(annotations).filter(([key]) => !RESERVED_ANNOTATIONS.has(key));
  const all = Object.fromEntries([...own, ...Object.entries(reserved)]);
  return Object.keys(all).length ? { ...metadata, annotations: all } : metadata;
}
