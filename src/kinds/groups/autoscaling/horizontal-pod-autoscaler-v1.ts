/**
 * HorizontalPodAutoscalers of autoscaling/v1. It has fields for the use of the CPU alone; everything else that the
 * stored version knows stands in annotations, as Kubernetes writes them.
 */
import { s } from '../../../schema/builders.ts';
import { decode } from '../../../schema/decode.ts';
import type { VersionDefinition } from '../../kind.ts';
import { conditionFields } from '../../shapes/workload/workload-status.ts';
import { behaviorIn, behaviorText, listIn } from './annotation-texts.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';
import { type Annotations, foundMetrics, keep, restore, wantedMetrics } from './kept-metrics.ts';
import { cpuUtilization, DEFAULT_UTILIZATION } from './metric.ts';

const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';

/** What these annotations say is said by fields in the stored version. */
const RESERVED = new Set([
  wantedMetrics.key,
  wantedMetrics.wholeKey,
  foundMetrics.key,
  foundMetrics.wholeKey,
  BEHAVIOR,
  CONDITIONS,
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
]);

export const HorizontalPodAutoscalerCondition = s.object('HorizontalPodAutoscalerCondition', conditionFields, {
  description: 'One observation about the state of an autoscaler.',
});

const Spec = s.object('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: s.use(CrossVersionObjectReference, {
    zero: true,
    atomic: true,
    description:
      'The object to scale: a Deployment, StatefulSet, ReplicaSet, or any other kind with a `scale` subresource, in the same namespace.',
  }),
  minReplicas: s.int32({ default: 1, description: 'Lower bound for the number of pods. Defaults to 1.' }),
  maxReplicas: s.int32({
    zero: true,
    description: 'Upper bound for the number of pods. Required; must not be less than minReplicas.',
  }),
  targetCPUUtilizationPercentage: s.int32({
    description:
      'Average CPU usage to aim for, across all pods, as a percentage of the CPU they request. Defaults to 80. Other metrics can be set in autoscaling/v2 only.',
  }),
});

const Status = s.object('HorizontalPodAutoscalerStatus', {
  observedGeneration: s.int64({ description: 'The metadata.generation that this status was computed from.' }),
  lastScaleTime: s.time({
    description: 'When the autoscaler last changed the number of pods. Limits how soon it may change it again.',
  }),
  currentReplicas: s.int32({
    zero: true,
    description: 'Number of pods the scaled object had when the autoscaler last looked.',
  }),
  desiredReplicas: s.int32({
    zero: true,
    description: 'Number of pods the autoscaler last computed from the metrics.',
  }),
  currentCPUUtilizationPercentage: s.int32({
    description:
      'Average CPU usage across all pods, as a percentage of the CPU they request. Absent until metrics are available.',
  }),
});

export const older: VersionDefinition = {
  fields: {
    spec: s.use(Spec, {
      zero: true,
      derive: withTarget,
      description: 'Desired behavior of the autoscaler: what it scales, within which bounds, and for which CPU usage.',
    }),
    status: s.use(Status, {
      default: {},
      description: 'Most recently observed state of the autoscaler, written by its controller.',
    }),
  },
  toHub,
  fromHub,
};

/** A hook: the stored version has no such annotations. */
export function withoutReserved(autoscaler: any): void {
  autoscaler.metadata = annotated(autoscaler.metadata, {});
}

/** An autoscaler that looks at nothing looks at the CPU. */
function withTarget({ metadata, spec = decode(Spec, {}) }: any): any {
  const kept = { cpu: spec.targetCPUUtilizationPercentage, annotations: metadata.annotations ?? {} };
  return restore(wantedMetrics, kept).length ? spec : { ...spec, targetCPUUtilizationPercentage: DEFAULT_UTILIZATION };
}

function toHub({ metadata, spec, status, ...rest }: any): any {
  const annotations: Annotations = metadata.annotations ?? {};
  const { targetCPUUtilizationPercentage, ...size } = spec;
  const { currentCPUUtilizationPercentage, currentReplicas, ...progress } = status;
  const metrics = restore(wantedMetrics, { cpu: targetCPUUtilizationPercentage, annotations });
  const behavior = behaviorIn(annotations[BEHAVIOR]);
  const currentMetrics = restore(foundMetrics, { cpu: currentCPUUtilizationPercentage, annotations });
  const conditions = listIn(HorizontalPodAutoscalerCondition, annotations[CONDITIONS]);
  return {
    ...rest,
    metadata: annotated(metadata, {}),
    spec: {
      ...size,
      metrics: metrics.length ? metrics : [cpuUtilization(DEFAULT_UTILIZATION)],
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

function fromHub({ metadata, spec, status, ...rest }: any): any {
  const { metrics, behavior, ...size } = spec;
  const { currentMetrics = [], conditions, currentReplicas = 0, ...progress } = status;
  const wanted = keep(wantedMetrics, metrics);
  const found = keep(foundMetrics, currentMetrics);
  return {
    ...rest,
    metadata: annotated(metadata, {
      ...wanted.annotations,
      ...found.annotations,
      ...(behavior ? { [BEHAVIOR]: behaviorText(behavior) } : {}),
      ...(conditions ? { [CONDITIONS]: JSON.stringify(conditions) } : {}),
    }),
    spec: { ...size, ...(wanted.cpu === undefined ? {} : { targetCPUUtilizationPercentage: wanted.cpu }) },
    status: {
      ...progress,
      currentReplicas,
      ...(found.cpu === undefined ? {} : { currentCPUUtilizationPercentage: found.cpu }),
    },
  };
}

/** Metadata with these of the reserved annotations, and no others of them. */
function annotated({ annotations = {}, ...metadata }: any, reserved: Annotations): any {
  const own = Object.entries(annotations).filter(([key]) => !RESERVED.has(key));
  const all = Object.fromEntries([...own, ...Object.entries(reserved)]);
  return Object.keys(all).length ? { ...metadata, annotations: all } : metadata;
}
