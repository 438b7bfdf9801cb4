/** Deletes finished Jobs, with their pods, after their `ttlSecondsAfterFinished`. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { Job } from '../../../kinds/groups/batch/job.ts';
import { defineController } from '../../loop/define.ts';
import { type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { endOf } from '../../workloads/job/conditions.ts';

export const ttlAfterFinishedController = defineController<Job>({
  name: 'ttl-after-finished',
  account: 'ttl-after-finished-controller',
  watches: Job,
  plan: (job, _, now) => planTtl(job, now),
});

export function planTtl(job: DeepReadonly<Job> | undefined, now: Date): Plan {
  if (!job || job.metadata.deletionTimestamp) return [];
  const { ttlSecondsAfterFinished: ttl } = job.spec;
  const finished = endOf(job)?.lastTransitionTime;
  if (ttl === undefined || finished === undefined) return [];
  const wait = Date.parse(finished) + ttl * 1000 - now.getTime();
  if (wait > 0) return [requeueAfter(wait)];
  // The version, too: the TTL may have just been raised.
  const { uid = '', resourceVersion = '' } = job.metadata;
  return [remove(Job, job, { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } })];
}
