/** Groups the pods that count for a metric, with their usable measurements. */
/** Time after a pod's start in which its usage may be from starting up. */
import type { SeenPod } from '../../../../api/seen-objects.ts';
import type { Sample, Samples } from './samples.ts';

const STARTUP_MS = 300_000;
/** A pod that was not ready within this time after its start, and is not now, has never been. */
const FIRST_READINESS_MS = 30_000;

export interface PodGroups {
  /** Number of ready pods that count with their measurement. */
  readonly ready: number;
  /** The names of pods that are not ready. */
  readonly unready: readonly string[];
  /** The names of ready pods without a measurement. */
  readonly missing: readonly string[];
  /** Samples of the other pods. */
  readonly samples: Samples;
}

export interface Grouping {
  readonly samples: Samples;
  /** The measured resource: only CPU usage is affected by starting up. */
  readonly resource: string | undefined;
  readonly now: number;
}

/** Failed and terminating pods are ignored. */
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

/** Reports whether the pod's CPU usage is from starting up. */
function isStarting({ status }: SeenPod, { time, window }: Sample, now: number): boolean {
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  if (!condition || !status.startTime) return true;
  const start = Date.parse(status.startTime);
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0;
  const isUnready = condition.status === 'False';
  if (start + STARTUP_MS > now) return isUnready || time < changed + window;
  return isUnready && start + FIRST_READINESS_MS > changed;
}
