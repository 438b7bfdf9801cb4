/** The conditions of a Job: how it ended, or is about to, and whether it is suspended. */

import type { SeenJob } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { conditionOf, holds } from '../../shared/conditions.ts';

type JobConditions = NonNullable<SeenJob['status']['conditions']>;
type JobCondition = JobConditions[number];

/** Result of a Job that has ended or is about to. */
export interface Ending {
  readonly outcome: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** The condition while pods are still to be counted or terminating. */
const PENDING_CONDITION = { Complete: 'SuccessCriteriaMet', Failed: 'FailureTarget' } as const;

const BUILT_IN = 'kubernetes.io/job-controller';

function holding(job: SeenJob, type: string): JobCondition | undefined {
  return holds(job, type) ? conditionOf(job, type) : undefined;
}

export const endOf = (job: SeenJob): JobCondition | undefined => holding(job, 'Complete') ?? holding(job, 'Failed');

export const isFinished = (job: SeenJob): boolean => endOf(job) !== undefined;

export const isManagedElsewhere = ({ spec }: SeenJob): boolean =>
  spec.managedBy !== undefined && spec.managedBy !== BUILT_IN;

/** Returns an ending that was decided before; it stands, whatever happened since. */
export function decidedEnding(job: SeenJob): Ending | undefined {
  for (const outcome of ['Complete', 'Failed'] as const) {
    const { reason = '', message = '' } = holding(job, PENDING_CONDITION[outcome]) ?? {};
    if (holding(job, PENDING_CONDITION[outcome])) return { outcome, reason, message };
  }
  return undefined;
}

/** Sets the condition that the Job will end so and, once nothing is left to do, that it has. */
export function withEnding(
  present: JobConditions,
  { outcome, reason, message }: Ending,
  { isDone, now }: { readonly isDone: boolean; readonly now: Date },
): JobConditions {
  const said = (type: string): JobCondition => ({ ...condition(type, 'True', now), reason, message });
  const isDecided = present.some(({ type, status }) => type === PENDING_CONDITION[outcome] && status === 'True');
  return [...present, ...(isDecided ? [] : [said(PENDING_CONDITION[outcome])]), ...(isDone ? [said(outcome)] : [])];
}

/** Returns undefined when nothing changes, or there is nothing to report: a running Job has no such condition. */
export function withSuspension(present: JobConditions, suspended: boolean, now: Date): JobConditions | undefined {
  const at = present.findIndex(({ type }) => type === 'Suspended');
  const status = suspended ? 'True' : 'False';
  if (at < 0 ? !suspended : present[at]?.status === status) return undefined;
  const [reason, message] = suspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed'];
  const said = { ...condition('Suspended', status, now), reason, message };
  return at < 0 ? [...present, said] : present.with(at, said);
}

function condition(type: string, status: 'True' | 'False', now: Date) {
  const time = timestamp(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time };
}
