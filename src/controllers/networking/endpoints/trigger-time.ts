/** When the change began that endpoints tell of: those who measure how long it took to reach them read it. */
import { deepEqual } from '../../../base/tree.ts';
import type { SeenPod } from './service-pods.ts';

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

/** What the endpoints said of each pod by uid, and what they say now: the first of the differences that time explains. */
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

/** The annotations with the time that the change goes back to; a change without one has none. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [TRIGGER_TIME]: _, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}
