/** What became of a Job's pod. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Job } from '../../../kinds/groups/batch/job.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';

type SeenJob = DeepReadonly<Job>;
type SeenPod = DeepReadonly<Pod>;

export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';

/** A pod that is asked to go has failed only once it has ended; it is replaced no sooner. */
export const waitsForTheEnd = ({ spec }: SeenJob): boolean =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;

export const hasSucceeded = ({ status }: SeenPod): boolean => status.phase === 'Succeeded';

/** A pod that is asked to go may never get to say that it failed: its node may be gone. */
export function hasFailed(pod: SeenPod, job: SeenJob): boolean {
  if (pod.status.phase === 'Failed') return true;
  return pod.metadata.deletionTimestamp !== undefined && !hasSucceeded(pod) && !waitsForTheEnd(job);
}

/** Undefined when it has none that can be read. */
export function completionIndex({ metadata }: SeenPod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export const isIndexed = ({ spec }: SeenJob): boolean => spec.completionMode === 'Indexed';

/** In an indexed Job only pods whose index is one of the Job's are counted. */
export function isCountable(pod: SeenPod, job: SeenJob): boolean {
  return !isIndexed(job) || (completionIndex(pod) ?? Number.POSITIVE_INFINITY) < (job.spec.completions ?? 0);
}

/** When it ended, in milliseconds, as well as can be told. */
export function finishedAt(pod: SeenPod): number {
  const { metadata, status } = pod;
  const ended = lastContainerEnd(pod);
  if (ended !== undefined) return ended;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = '' } = metadata;
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}

/** Of all that run beside each other; undefined while one of them has not ended. */
function lastContainerEnd({ spec, status }: SeenPod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(({ state }) => state?.terminated?.finishedAt);
  if (times.length === 0 || times.some((time) => !time)) return undefined;
  return Math.max(...times.map((time) => Date.parse(time as string)));
}
