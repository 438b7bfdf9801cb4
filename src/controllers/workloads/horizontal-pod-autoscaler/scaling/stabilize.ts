/** Stabilizes a recommendation by earlier ones. */
import type { DeepReadonly } from '../../../../api/object-types.ts';
import type { HorizontalPodAutoscalerBehavior } from '../../../../kinds/groups/autoscaling/scaling-behavior.ts';
import type { ScalingHistory } from './scaling-history.ts';

export type Behavior = DeepReadonly<HorizontalPodAutoscalerBehavior>;

/** The default stabilization window for scaling down. */
const DEFAULT_DOWN_WINDOW_MS = 300_000;

export interface Stabilized {
  readonly replicas: number;
  /** Including the current recommendation. */
  readonly history: ScalingHistory;
}

interface StabilizeInput {
  readonly current: number;
  readonly wanted: number;
  readonly now: number;
}

/**
 * Upwards the lowest recommendation within the window counts, downwards the highest. Without `behavior`, scaling up has no
 * window.
 */
export function stabilize(
  { current, wanted, now }: StabilizeInput,
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
