/** Plans for an autoscaler after its target was read: pure, with its state passed in and out. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import type { MetricStatus } from '../../../kinds/groups/autoscaling/metric.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Failure } from '../../loop/define.ts';
import { type Action, changeStatus, event, eventContent, type Plan, requeueAfter } from '../../loop/plan.ts';
import { withConditions } from '../../shared/conditions.ts';
import { type Autoscaler, decide, type ScalingDecision } from './decide.ts';
import type { Reading } from './metrics/readings.ts';
import { type ConditionContent, condition } from './recommend.ts';
import { type ScalingHistory, withChange, withoutLastChange } from './scaling/limit.ts';
import { EVALUATION_INTERVAL_MS, type Rival } from './scaling/memory.ts';
import type { Target } from './target.ts';

type Status = HorizontalPodAutoscaler['status'];

/** Data that was read for one evaluation. */
export interface Look {
  readonly target: Target | string;
  /** Readings in the order of the metrics; empty when metrics do not matter. */
  readonly readings: readonly Reading[];
  readonly rivals: readonly Rival[];
}

export interface World {
  /** Data of the evaluation, or the milliseconds until the next one. */
  readonly look: Look | number;
  readonly history: ScalingHistory;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly failures: readonly Failure[];
  readonly pace: Pace;
}

export interface AutoscalerPlan {
  readonly plan: Plan;
  readonly history: ScalingHistory;
}

export function* planAutoscaler(autoscaler: Autoscaler, world: World, now: Date): DividedWork<AutoscalerPlan> {
  const failure = world.failures.find(({ action }) => action?.type === 'updateSubresource');
  const history = failure ? withoutLastChange(world.history) : world.history;
  const { look } = world;
  if (typeof look === 'number') {
    return { plan: [...reported(autoscaler, failure, now), requeueAfter(look)], history };
  }
  const again = requeueAfter(EVALUATION_INTERVAL_MS);
  if (typeof look.target === 'string') {
    const message = `the HPA controller was unable to get the target's current scale: ${look.target}`;
    const said = [condition('AbleToScale', false, 'FailedGetScale', message)];
    const warning = event(autoscaler, 'Warning', 'FailedGetScale', look.target);
    return { plan: [warning, ...written(autoscaler, statusWith(autoscaler, said, now)), again], history };
  }
  const { target } = look;
  const known = history.recommendations.length > 0 ? history : beginning(history, target, now);
  const state = { ...look, target, pods: world.pods, history: known, now: now.getTime() };
  const decision = yield* decide(autoscaler, state, world.pace);
  const events = decision.events.map(({ eventType, reason, message }) => event(autoscaler, eventType, reason, message));
  const change = (decision.replicas ?? target.replicas) - target.replicas;
  return {
    plan: [
      ...events,
      ...(change === 0 ? [] : [rescaled(autoscaler, target, decision)]),
      ...written(autoscaler, statusAfter(autoscaler, { target, decision, now })),
      again,
    ],
    history: change === 0 ? decision.history : withChange(decision.history, change, now.getTime()),
  };
}

/** Starts the history: the current size counts as a recommendation, so that the target does not shrink at once. */
function beginning(history: ScalingHistory, { replicas }: Target, now: Date): ScalingHistory {
  return { ...history, recommendations: [{ replicas, at: now.getTime() }] };
}

/** Reports a size change that failed. */
function reported(autoscaler: Autoscaler, failure: Failure | undefined, now: Date): readonly Action[] {
  if (!failure) return [];
  const message = `the HPA controller was unable to update the target scale: ${failure.error.message}`;
  return written(
    autoscaler,
    statusWith(autoscaler, [condition('AbleToScale', false, 'FailedUpdateScale', message)], now),
  );
}

/** Sets this size even if it was changed meanwhile. */
function rescaled(
  { spec, ...autoscaler }: Autoscaler,
  { kind }: Target,
  { replicas, reason }: ScalingDecision,
): Action {
  const words = `New size: ${replicas}; reason: ${reason}`;
  const { namespace } = autoscaler.metadata;
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: spec.scaleTargetRef.name, namespace },
    spec: { replicas },
  };
  return {
    type: 'updateSubresource',
    kind,
    subresource: 'scale',
    object: scale,
    report: {
      about: autoscaler,
      done: () => eventContent('Normal', 'SuccessfulRescale', words),
      failed: (error) => eventContent('Warning', 'FailedRescale', `${words}; error: ${error.message}`),
    },
  };
}

interface After {
  readonly target: Target;
  readonly decision: ScalingDecision;
  readonly now: Date;
}

function statusAfter(autoscaler: Autoscaler, { target, decision, now }: After): Status {
  const { replicas, metrics } = decision;
  const isRescaled = replicas !== undefined && replicas !== target.replicas;
  const able = 'the HPA controller was able to';
  const conditions = [
    condition('AbleToScale', true, 'SucceededGetScale', `${able} get the target's current scale`),
    ...decision.conditions,
    ...(isRescaled
      ? [condition('AbleToScale', true, 'SucceededRescale', `${able} update the target scale to ${replicas}`)]
      : []),
  ];
  const { desiredReplicas } = autoscaler.status;
  const { lastScaleTime, conditions: said } = statusWith(autoscaler, conditions, now);
  return {
    ...(isRescaled ? { lastScaleTime: timestamp(now) } : lastScaleTime ? { lastScaleTime } : {}),
    ...(target.replicas ? { currentReplicas: target.replicas } : {}),
    desiredReplicas: replicas ?? desiredReplicas,
    ...(metrics.length > 0 ? { currentMetrics: metrics as MetricStatus[] } : {}),
    conditions: said,
  } as Status;
}

function statusWith({ status }: Autoscaler, conditions: readonly ConditionContent[], now: Date): Status {
  return { ...status, conditions: withConditions(status.conditions, conditions, now) } as Status;
}

const written = (autoscaler: Autoscaler, status: Status) => changeStatus(HorizontalPodAutoscaler, autoscaler, status);
