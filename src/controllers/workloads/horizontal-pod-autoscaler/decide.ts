/** Decides the size of a target, with conditions and events. Performs and writes nothing. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import type { HorizontalPodAutoscaler } from '../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import type { MetricStatus } from '../../../kinds/groups/autoscaling/metric.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type LabelSelector, parseLabelSelector, SelectorError } from '../../../schema/selector/selector.ts';
import { type EventContent, eventContent } from '../../loop/plan.ts';
import type { Reading } from './metrics/readings.ts';
import type { Tolerance } from './metrics/replica-calculator.ts';
import { type ConditionContent, condition, recommend } from './recommend.ts';
import type { ScalingHistory } from './scaling/limit.ts';
import { type Behavior, type Bounds, limitByPolicies, limitPlainly, stabilize } from './scaling/limit.ts';
import type { Rival } from './scaling/memory.ts';
import type { Target } from './target.ts';

export type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

export interface TargetState {
  readonly target: Target;
  /** Readings in the order of the metrics; empty when metrics do not matter. */
  readonly readings: readonly Reading[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly rivals: readonly Rival[];
  readonly history: ScalingHistory;
  readonly now: number;
}

export interface ScalingDecision {
  /** The last one of each type counts. */
  readonly conditions: readonly ConditionContent[];
  readonly events: readonly EventContent[];
  readonly metrics: readonly MetricStatus[];
  /** New size; undefined when it cannot be determined. */
  readonly replicas: number | undefined;
  /** Why it differs from the current size. */
  readonly reason: string;
  readonly history: ScalingHistory;
}

const boundsOf = ({ spec }: Autoscaler): Bounds => ({ min: spec.minReplicas ?? 1, max: spec.maxReplicas });

/** Reports whether the size depends on metrics: it does not when the target is scaled to zero or outside the bounds. */
export function needsMetrics(autoscaler: Autoscaler, { replicas }: Pick<Target, 'replicas'>): boolean {
  const { min, max } = boundsOf(autoscaler);
  return replicas !== 0 && replicas >= min && replicas <= max;
}

/** Decides the size of a target. Divided, because tens of thousands of pods may count for each of many metrics. */
export function* decide(autoscaler: Autoscaler, found: TargetState, pace: Pace): DividedWork<ScalingDecision> {
  const { replicas: current } = found.target;
  const { min, max } = boundsOf(autoscaler);
  const nothing = { conditions: [], events: [], metrics: [], reason: '', history: found.history };
  if (current === 0) {
    const why = 'scaling is disabled since the replica count of the target is zero';
    return { ...nothing, replicas: 0, conditions: [condition('ScalingActive', false, 'ScalingDisabled', why)] };
  }
  if (current > max) {
    return { ...nothing, replicas: max, reason: 'Current number of replicas above Spec.MaxReplicas' };
  }
  if (current < min) {
    return { ...nothing, replicas: min, reason: 'Current number of replicas below Spec.MinReplicas' };
  }
  const selected = yield* selectPods(autoscaler, found, pace);
  if ('pods' in selected) return yield* byMetrics(autoscaler, { ...found, pods: selected.pods }, pace);
  const { reason, message, event = reason } = selected;
  return {
    ...nothing,
    replicas: undefined,
    conditions: [condition('ScalingActive', false, reason, selected.said ?? message)],
    events: [eventContent('Warning', event, message), eventContent('Warning', 'FailedComputeMetricsReplicas', message)],
  };
}

type Selected =
  | { readonly pods: readonly DeepReadonly<Pod>[] }
  /** `event` is the reason of the event, and `said` the message of the condition, if they differ from these. */
  | { readonly reason: string; readonly message: string; readonly event?: string; readonly said?: string };

function* selectPods(
  { metadata }: Autoscaler,
  { target, pods, rivals }: TargetState,
  pace: Pace,
): DividedWork<Selected> {
  const { selector: text } = target;
  if (text === '') {
    const said = "the HPA target's scale is missing a selector";
    return { reason: 'InvalidSelector', message: 'selector is required', event: 'SelectorRequired', said };
  }
  let selector: LabelSelector;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    const message = `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
    return { reason: 'InvalidSelector', message };
  }
  const mine = pods.filter((pod) => selector.matches(pod.metadata.labels));
  const others: Rival[] = [];
  for (const rival of rivals) {
    if (pace.isSpent()) yield;
    if (selectsAny(rival, mine)) others.push(rival);
  }
  if (others.length === 0) return { pods: mine };
  const names = [metadata.name ?? '', ...others.map(({ name }) => name)].sort();
  const list = names.map((name) => `{${name} ${metadata.namespace}}`).join(' ');
  const message = `pods by selector ${text} are controlled by multiple HPAs: [${list}]`;
  return { reason: 'AmbiguousSelector', message };
}

/** An invalid selector matches nothing. */
function selectsAny({ selector: text }: Rival, pods: readonly DeepReadonly<Pod>[]): boolean {
  try {
    const selector = parseLabelSelector(text);
    return pods.some(({ metadata }) => selector.matches(metadata.labels));
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** `pods`: those of the target. */
function* byMetrics(autoscaler: Autoscaler, found: TargetState, pace: Pace): DividedWork<ScalingDecision> {
  const { target, pods, readings, history, now } = found;
  const { behavior, metrics = [] } = autoscaler.spec;
  const { replicas: current, observed } = target;
  const { namespace = '' } = autoscaler.metadata;
  const tolerance = toleranceOf(behavior);
  const input = { pods, replicas: current, observed, tolerance, namespace, now };
  const recommendation = yield* recommend(metrics, readings, { ...input, pace });
  const errors = recommendation.errors.map(({ reason, message }) => eventContent('Warning', reason, message));
  if (!recommendation.wanted) {
    const summary = eventContent(
      'Warning',
      'FailedComputeMetricsReplicas',
      recommendation.summary ?? 'there are no metrics',
    );
    const events = [...errors, summary];
    return {
      conditions: [recommendation.active],
      events,
      metrics: recommendation.found,
      replicas: undefined,
      reason: '',
      history,
    };
  }
  const { replicas: wanted, metric } = recommendation.wanted;
  const stable = stabilize({ current, wanted, now }, behavior, history);
  const asking = { current, wanted: stable.replicas, ...boundsOf(autoscaler) };
  const limited = behavior
    ? limitByPolicies(asking, behavior, { changes: history.changes, now })
    : limitPlainly(asking);
  const isLimited = limited.replicas !== stable.replicas;
  return {
    conditions: [
      recommendation.active,
      stable.replicas === wanted ? READY : stabilized(wanted >= current && behavior !== undefined),
      condition('ScalingLimited', isLimited, limited.reason, limited.message),
    ],
    events: errors,
    metrics: recommendation.found,
    replicas: limited.replicas,
    reason: wanted > current ? `${metric} above target` : wanted < current ? 'All metrics below target' : '',
    history: stable.history,
  };
}

const READY = condition('AbleToScale', true, 'ReadyForNewScale', 'recommended size matches current size');

function stabilized(isUp: boolean): ConditionContent {
  const [reason, than, one] = isUp
    ? (['ScaleUpStabilized', 'lower', 'lowest'] as const)
    : (['ScaleDownStabilized', 'higher', 'highest'] as const);
  const message = `recent recommendations were ${than} than current one, applying the ${one} recent recommendation`;
  return condition('AbleToScale', true, reason, message);
}

const DEFAULT_TOLERANCE = 0.1;

function toleranceOf(behavior: Behavior | undefined): Tolerance {
  const { scaleUp, scaleDown } = behavior ?? {};
  return { up: fraction(scaleUp?.tolerance), down: fraction(scaleDown?.tolerance) };
}

const fraction = (text: string | undefined) =>
  text === undefined ? DEFAULT_TOLERANCE : Number(scaled(parseQuantity(text), 9)) / 1e9;
