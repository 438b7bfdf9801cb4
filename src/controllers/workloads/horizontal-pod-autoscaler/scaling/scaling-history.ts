/** Remembered state of an autoscaler between evaluations, so that it neither flaps nor exceeds its rate limits. */

export interface ScalingHistory {
  /** The recommendations with their time in milliseconds; the oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly at: number }[];
  /** Changes of size, in pods. */
  readonly changes: readonly { readonly by: number; readonly at: number }[];
}

export const NO_HISTORY: ScalingHistory = { recommendations: [], changes: [] };

/** Retention of a change: no policy has a longer period. */
const MAX_POLICY_PERIOD_MS = 1_800_000;

export function withChange(history: ScalingHistory, by: number, now: number): ScalingHistory {
  const changes = history.changes.filter(({ at }) => at > now - MAX_POLICY_PERIOD_MS);
  return { ...history, changes: [...changes, { by, at: now }] };
}

/** Drops the last change, which failed. */
export function withoutLastChange(history: ScalingHistory): ScalingHistory {
  return { ...history, changes: history.changes.slice(0, -1) };
}
