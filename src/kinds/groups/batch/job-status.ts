import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { conditionFields } from '../../shapes/workload/workload-status.ts';

const JobCondition = s.object('JobCondition', {
  ...conditionFields,
  lastProbeTime: s.time(),
});

const UncountedTerminatedPods = s.object('UncountedTerminatedPods', {
  succeeded: s.set(s.string()),
  failed: s.set(s.string()),
});

/** How far a Job has come. */
export const JobStatus = s.object('JobStatus', {
  conditions: s.list(JobCondition, {
    merge: 'type',
    description: 'What holds for the Job: Complete or Failed once it is finished, Suspended while it is stopped.',
  }),
  startTime: s.time({ description: 'When the controller took note of the Job.' }),
  completionTime: s.time({ description: 'When the Job was completed; a Job that failed has none.' }),
  active: s.int32({ min: 0, omitZero: true, description: 'How many pods are running or about to.' }),
  succeeded: s.int32({ min: 0, omitZero: true, description: 'How many pods reached success.' }),
  failed: s.int32({ min: 0, omitZero: true, description: 'How many pods failed.' }),
  terminating: s.int32({ min: 0 }),
  completedIndexes: s.string({ omitZero: true, description: 'The indexes that have succeeded, such as 1,3-5.' }),
  failedIndexes: s.string({ description: 'The indexes that have failed for good.' }),
  uncountedTerminatedPods: UncountedTerminatedPods,
  ready: s.int32({ min: 0 }),
});
export type JobStatus = TypeOf<typeof JobStatus>;
