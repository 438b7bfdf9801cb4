import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import type { KubeObject } from '../../kind.ts';
import { conditionFields } from '../../shapes/workload/workload-status.ts';
import type { JobSpec } from './job-spec.ts';

const JobCondition = s.object('JobCondition', 'One observation about the state of a Job.', {
  ...conditionFields,
  lastProbeTime: s.time('When the condition was last checked.'),
});

const UncountedTerminatedPods = s.object(
  'UncountedTerminatedPods',
  'UIDs of finished pods that the counters do not include yet. The controller keeps them so that no pod is counted twice or missed.',
  {
    succeeded: s.set(s.string(), 'UIDs of pods that succeeded and are not yet included in status.succeeded.'),
    failed: s.set(s.string(), 'UIDs of pods that failed and are not yet included in status.failed.'),
  },
);

/** The status of a Job. */
export const JobStatus = s.object('JobStatus', 'Progress of the Job.', {
  conditions: s.list(
    JobCondition,
    'Latest observations of the state of the Job. Complete or Failed is True once the Job has finished, Suspended while it is suspended, and SuccessCriteriaMet or FailureTarget when its end is decided but pods are still terminating.',
    { merge: 'type' },
  ),
  startTime: s.time('When the Job controller first started to work on the Job. Reset when a suspended Job is resumed.'),
  completionTime: s.time('When the Job completed successfully. Not set for a failed Job.'),
  active: s.int32('Number of pods that are pending or running and not terminating. Absent or 0 for a finished Job.', {
    min: 0,
    omitZero: true,
  }),
  succeeded: s.int32('Number of pods that reached phase Succeeded.', { min: 0, omitZero: true }),
  failed: s.int32('Number of pods that reached phase Failed.', { min: 0, omitZero: true }),
  terminating: s.int32('Number of pods that are terminating but have not reached phase Succeeded or Failed.', {
    min: 0,
  }),
  completedIndexes: s.string(
    'Indexes that have succeeded, as a list of numbers and ranges such as 1,3-5. For indexed Jobs only.',
    { omitZero: true },
  ),
  failedIndexes: s.string(
    'Indexes that have failed and are not retried, as a list of numbers and ranges such as 1,3-5. For Jobs with backoffLimitPerIndex only.',
  ),
  uncountedTerminatedPods: UncountedTerminatedPods,
  ready: s.int32('Number of active pods whose Ready condition is True.', { min: 0 }),
});
export type JobStatus = TypeOf<typeof JobStatus>;

/** A Job as the hooks, rules and columns see it that job.ts is put together from. */
export interface JobObject extends KubeObject {
  spec: JobSpec;
  status: JobStatus;
}
