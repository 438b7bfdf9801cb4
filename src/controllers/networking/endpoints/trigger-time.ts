/** The time of the change that endpoints reflect, for consumers that measure propagation. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Returns the earliest time that explains a difference between the published states, by the UID of pods. */
export function triggerTime(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  pods: readonly SeenPod[],
): string | undefined {
  let first: string | undefined;
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? '';
    if (deepEqual(before.get(uid), after.get(uid))) continue;
    const time = pod.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    if (time && (first === undefined || time < first)) first = time;
  }
  return first;
}

/** Sets the annotation to the time of the change; removes it when there is none. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [TRIGGER_TIME]: _, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}
