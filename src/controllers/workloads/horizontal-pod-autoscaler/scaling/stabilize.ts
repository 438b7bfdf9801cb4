/** Holds a number back as long as others were asked for a short while ago. */
import type { DeepReadonly } from '../../../../client/object-types.ts';
import type { HorizontalPodAutoscalerBehavior } from '../../../../kinds/groups/autoscaling/scaling-behavior.ts';
import type { Remembered } from './remembered.ts';

export type Behavior = DeepReadonly<HorizontalPodAutoscalerBehavior>;

/** How long a number holds back a smaller one where nothing is said, in milliseconds. */
const DOWN_WINDOW = 300_000;

export interface Stabilized {
  readonly replicas: number;
  /** With the one that was asked for now. */
  readonly remembered: Remembered;
}

interface Asked {
  readonly current: number;
  readonly wanted: number;
  readonly now: number;
}

/**
 * Upwards the least that was asked for within the window counts, downwards the most. Without behavior nothing holds back
 * upwards.
 */
export function stabilize(
  { current, wanted, now }: Asked,
  behavior: Behavior | undefined,
  remembered: Remembered,
): Stabilized {
  const up = (behavior?.scaleUp.stabilizationWindowSeconds ?? 0) * 1000;
  const { stabilizationWindowSeconds: seconds } = behavior?.scaleDown ?? {};
  const down = seconds === undefined ? DOWN_WINDOW : seconds * 1000;
  let [least, most] = [wanted, wanted];
  for (const { replicas, at } of remembered.recommendations) {
    if (at > now - up) least = Math.min(least, replicas);
    // Without behavior the edge of the window still counts.
    if (at > now - down || (!behavior && at === now - down)) most = Math.max(most, replicas);
  }
  const kept = remembered.recommendations.filter(({ at }) => at >= now - Math.max(up, down));
  return {
    replicas: behavior ? Math.min(Math.max(current, least), most) : most,
    remembered: { ...remembered, recommendations: [...kept, { replicas: wanted, at: now }] },
  };
}
