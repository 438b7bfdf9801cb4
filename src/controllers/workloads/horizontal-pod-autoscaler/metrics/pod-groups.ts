/** Which pods count when their use is weighed, and which of the measurements are of any worth. */
import type { DeepReadonly } from '../../../../client/object-types.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Sample, Samples } from './samples.ts';

type SeenPod = DeepReadonly<Pod>;

/** So long after its start a pod may still be busy with that alone, in milliseconds. */
const STARTING = 300_000;
/** A pod that was not ready within this after its start, and is not now, has never been. */
const FIRST_READINESS = 30_000;

export interface PodGroups {
  /** How many count with what was measured. */
  readonly ready: number;
  /** The names of those that are not at work yet. */
  readonly unready: readonly string[];
  /** The names of those that are, but of which nothing was measured. */
  readonly missing: readonly string[];
  /** Of the rest. */
  readonly samples: Samples;
}

export interface Grouping {
  readonly samples: Samples;
  /** What was measured: only the processor is used by a mere start. */
  readonly resource: string | undefined;
  readonly now: number;
}

/** Pods that have failed or are about to go count nowhere. */
export function groupPods(pods: readonly SeenPod[], { samples, resource, now }: Grouping): PodGroups {
  const worth = new Map(samples);
  const [unready, missing]: [string[], string[]] = [[], []];
  let ready = 0;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const sample = samples.get(name);
    if (deletionTimestamp || pod.status.phase === 'Failed') worth.delete(name);
    else if (pod.status.phase === 'Pending') {
      worth.delete(name);
      unready.push(name);
    } else if (!sample) missing.push(name);
    else if (resource === 'cpu' && isStarting(pod, sample, now)) {
      worth.delete(name);
      unready.push(name);
    } else ready++;
  }
  return { ready, unready, missing, samples: worth };
}

/** Whether the use of the processor says nothing about the pod's work. */
function isStarting({ status }: SeenPod, { time, window }: Sample, now: number): boolean {
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  if (!condition || !status.startTime) return true;
  const start = Date.parse(status.startTime);
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0;
  const isUnready = condition.status === 'False';
  if (start + STARTING > now) return isUnready || time < changed + window;
  return isUnready && start + FIRST_READINESS > changed;
}
