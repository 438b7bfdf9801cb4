/**
 * Counts every pod exactly once, whatever happens in between. A pod has a finalizer from its creation. When it has
 * ended, its UID is added to the Job's status; then the finalizer is removed; then the UID becomes a count. Every state
 * therefore shows how far a pod has come, and a deleted pod stays until it is recorded.
 */

import type { SeenJob, SeenPod } from '../../../api/seen-objects.ts';
import { controllerOf, type IndexFunction } from '../../../client/informer/object-cache.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Listers, type Related, related, type Snapshot } from '../../loop/define.ts';
import { type Action, patch } from '../../loop/plan.ts';
import { isFinished, isManagedElsewhere } from './conditions.ts';

export const TRACKING = 'batch.kubernetes.io/job-tracking';

const JOB_NAME = 'batch.kubernetes.io/job-name';

export const isTracked = ({ metadata }: SeenPod): boolean => metadata.finalizers?.includes(TRACKING) ?? false;

/** Does nothing to a pod without the finalizer, or to another pod of the same name. */
export function untrack(pod: SeenPod): Action {
  const metadata = { uid: pod.metadata.uid, '$deleteFromPrimitiveList/finalizers': [TRACKING] };
  return patch(Pod, pod, { type: 'strategic', changes: { metadata } });
}

/**
 * Returns the key that a tracked pod is planned with: that of the Job that manages it, or once did. A pod whose Job
 * cannot be determined has its own key, which belongs to no Job or, by coincidence, to another; both plans untrack it.
 */
const trackedFor: IndexFunction<Pod> = (pod) => {
  if (!isTracked(pod)) return NONE;
  const { name, namespace, labels } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner && !isJob(owner)) return NONE;
  return [`${namespace}/${owner?.name ?? labels?.[JOB_NAME] ?? name}`];
};

const NONE: readonly string[] = [];

const isJob = ({ kind, apiVersion }: { readonly kind: string; readonly apiVersion: string }) =>
  kind === Job.kind && apiVersion === Job.hub.apiVersion;

/** Related kind for the controller's `also`. */
export const trackedPods: Related = related(Pod, trackedFor);

/** Untracks pods that will not be counted: their Job is gone or finished, or has released them. */
export function untrackStrays(
  job: SeenJob | undefined,
  { of, key, adopted }: Listers & Pick<Snapshot, 'key'> & { readonly adopted: readonly SeenPod[] },
): Action[] {
  const kept = new Set(adopted);
  return of(Pod)
    .by(trackedFor, `${key.namespace}/${key.name}`)
    .filter((pod) => {
      const owner = controllerOf(pod);
      if (!owner) return !kept.has(pod);
      if (!job || owner.uid !== job.metadata.uid) return true;
      return isFinished(job) && !isManagedElsewhere(job);
    })
    .map(untrack);
}
