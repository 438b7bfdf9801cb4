/** What is remembered of an autoscaler from one look to the next, so that it neither flutters nor runs away. */

export interface Remembered {
  /** What the metrics asked for, at what time in milliseconds; the oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly at: number }[];
  /** By how many pods the size was changed. */
  readonly changes: readonly { readonly by: number; readonly at: number }[];
}

export const NOTHING_REMEMBERED: Remembered = { recommendations: [], changes: [] };

/** How long a change counts at most: no policy has a longer period. */
const LONGEST_PERIOD = 1_800_000;

export function withChange(remembered: Remembered, by: number, now: number): Remembered {
  const changes = remembered.changes.filter(({ at }) => at > now - LONGEST_PERIOD);
  return { ...remembered, changes: [...changes, { by, at: now }] };
}

/** The last change did not come about. */
export function withoutLastChange(remembered: Remembered): Remembered {
  return { ...remembered, changes: remembered.changes.slice(0, -1) };
}
