/** Keeps a number within its bounds and its rate limits. */
import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { HorizontalPodAutoscalerBehavior } from '../../../../kinds/groups/autoscaling/scaling-behavior.ts';

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export interface Limited {
  readonly replicas: number;
  /** Reason for the condition: the limit that applied, or that none did. */
  readonly reason: string;
  readonly message: string;
}

interface LimitInput extends Bounds {
  readonly current: number;
  readonly wanted: number;
}

const WITHIN_RANGE = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const TOO_FEW = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const TOO_MANY = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const TOO_FAST_UP = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const TOO_FAST_DOWN = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};

/** Limits a change without `behavior`: at most twice the size at a time, or four. */
export function limitPlainly({ current, wanted, min, max }: LimitInput): Limited {
  const fastest = Math.max(2 * current, 4);
  if (wanted < min) return { replicas: min, ...TOO_FEW };
  if (wanted <= Math.min(max, fastest)) return { replicas: wanted, ...WITHIN_RANGE };
  return max > fastest ? { replicas: fastest, ...TOO_FAST_UP } : { replicas: max, ...TOO_MANY };
}

export function limitByPolicies(
  { current, wanted, min, max }: LimitInput,
  behavior: Behavior,
  { changes, now }: Pick<ScalingHistory, 'changes'> & { readonly now: number },
): Limited {
  if (wanted > current) {
    const fastest = Math.max(current, fastestUp(behavior.scaleUp, current, changesWithin(changes, now)));
    if (wanted <= Math.min(max, fastest)) return { replicas: wanted, ...WITHIN_RANGE };
    return max > fastest ? { replicas: fastest, ...TOO_FAST_UP } : { replicas: max, ...TOO_MANY };
  }
  if (wanted < current) {
    const fastest = Math.min(current, fastestDown(behavior.scaleDown, current, changesWithin(changes, now)));
    if (wanted >= Math.max(min, fastest)) return { replicas: wanted, ...WITHIN_RANGE };
    return min < fastest ? { replicas: fastest, ...TOO_FAST_DOWN } : { replicas: min, ...TOO_FEW };
  }
  return { replicas: wanted, ...WITHIN_RANGE };
}

/** Returns the growth within the last seconds, net of reductions. */
type GrowthWithin = (seconds: number) => number;

function changesWithin(changes: ScalingHistory['changes'], now: number): GrowthWithin {
  return (seconds) => changes.reduce((sum, { by, at }) => (at > now - seconds * 1000 ? sum + by : sum), 0);
}

type Rules = Behavior['scaleUp'] | Behavior['scaleDown'];

/** The maximum that may be reached now. */
function fastestUp(rules: Rules, current: number, growth: GrowthWithin): number {
  const reach = rules.policies.map(({ type, value, periodSeconds }) => {
    const start = current - growth(periodSeconds);
    // Rounded up: a small number must be able to grow at all.
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return chosen(rules, current, { most: () => Math.max(...reach), least: () => Math.min(...reach) });
}

/** The minimum that may be reached now. */
function fastestDown(rules: Rules, current: number, growth: GrowthWithin): number {
  const reach = rules.policies.map(({ type, value, periodSeconds }) => {
    const start = current - growth(periodSeconds);
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return chosen(rules, current, { most: () => Math.min(...reach), least: () => Math.max(...reach) });
}

/** `most` and `least`: by the policy that allows that change. */
function chosen(
  { selectPolicy }: Rules,
  current: number,
  { most, least }: { readonly most: () => number; readonly least: () => number },
): number {
  switch (selectPolicy) {
    case 'Disabled':
      return current;
    case 'Min':
      return least();
    default:
      return most();
  }
}

/** Remembered state of an autoscaler between evaluations, so that it neither flaps nor exceeds its rate limits. */

export interface ScalingHistory {
  /** The recommendations with their time in milliseconds; the oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly at: number }[];
  readonly changes: readonly { readonly by: number; readonly at: number }[];
}

export const NO_HISTORY: ScalingHistory = { recommendations: [], changes: [] };

/** Retention of a change: no policy has a longer period. */
const MAX_POLICY_PERIOD_MS = 1_800_000;

export function withChange(history: ScalingHistory, by: number, now: number): ScalingHistory {
  const changes = history.changes.filter(({ at }) => at > now - MAX_POLICY_PERIOD_MS);
  return { ...history, changes: [...changes, { by, at: now }] };
}

export function withoutLastChange(history: ScalingHistory): ScalingHistory {
  return { ...history, changes: history.changes.slice(0, -1) };
}

export type Behavior = DeepReadonly<HorizontalPodAutoscalerBehavior>;

const DEFAULT_DOWN_WINDOW_MS = 300_000;

interface Stabilized {
  readonly replicas: number;
  /** Including the current recommendation. */
  readonly history: ScalingHistory;
}

/**
 * Upwards the lowest recommendation within the window counts, downwards the highest. Without `behavior`, scaling up has no
 * window.
 */
export function stabilize(
  { current, wanted, now }: { readonly current: number; readonly wanted: number; readonly now: number },
  behavior: Behavior | undefined,
  history: ScalingHistory,
): Stabilized {
  const up = (behavior?.scaleUp.stabilizationWindowSeconds ?? 0) * 1000;
  const { stabilizationWindowSeconds: seconds } = behavior?.scaleDown ?? {};
  const down = seconds === undefined ? DEFAULT_DOWN_WINDOW_MS : seconds * 1000;
  let [least, most] = [wanted, wanted];
  for (const { replicas, at } of history.recommendations) {
    if (at > now - up) least = Math.min(least, replicas);
    // Without `behavior`, the edge of the window still counts.
    if (at > now - down || (!behavior && at === now - down)) most = Math.max(most, replicas);
  }
  const kept = history.recommendations.filter(({ at }) => at >= now - Math.max(up, down));
  return {
    replicas: behavior ? Math.min(Math.max(current, least), most) : most,
    history: { ...history, recommendations: [...kept, { replicas: wanted, at: now }] },
  };
}
