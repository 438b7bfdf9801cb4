/**
 * Rules for updates of a Job's status. They hold for third-party controllers as well, because clients rely on them when
 * they wait for a Job to finish. Most checks look only at what the update changes: a change of the spec can make the rest
 * of the status invalid, and the controller must be able to correct it step by step.
 */
import { deepEqual } from '../../../base/json/tree.ts';
import { duplicate, type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { invalidCombination } from './field-errors.ts';
import { firstCommonIndex, parseIndexes } from './indexes.ts';
import type { JobSpec } from './job-spec.ts';
import type { JobObject, JobStatus } from './job-status.ts';

/** A status update. */
interface StatusUpdate {
  readonly spec: JobSpec;
  readonly old: JobStatus;
  readonly updated: JobStatus;
  /** Reports whether at least one of these parts changes. */
  readonly changed: (...parts: readonly Part[]) => boolean;
}

type Part = keyof JobStatus | 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'finished';

type Check = (write: StatusUpdate) => FieldError | false | undefined;

/** A kind's rule: applies to status updates only. */
export function jobStatusRules(
  job: JobObject,
  { subresource, oldRoot }: RuleContext<JobObject, JobObject>,
): readonly FieldError[] {
  if (subresource !== 'status' || !oldRoot) return [];
  const updated: JobStatus = job.status ?? {};
  const old: JobStatus = oldRoot.status ?? {};
  const changed = (...parts: readonly Part[]) => parts.some((part) => !deepEqual(read(old, part), read(updated, part)));
  const write: StatusUpdate = { spec: job.spec, old, updated, changed };
  const found = uncountedPods(updated);
  for (const check of checks) {
    const wrong = check(write);
    if (wrong) found.push(wrong);
  }
  return under('status', found);
}

function read(status: JobStatus, part: Part): unknown {
  switch (part) {
    case 'finished':
      return finished(status);
    case 'Complete':
    case 'Failed':
    case 'FailureTarget':
    case 'SuccessCriteriaMet':
      return holds(status, part);
    default:
      return status[part];
  }
}

function holds(status: JobStatus, type: string): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

const finished = (status: JobStatus) => holds(status, 'Complete') || holds(status, 'Failed');

const conditions = (words: string) => invalidCombination('conditions', words);

const checks: readonly Check[] = [
  ({ updated, changed }) =>
    changed('Complete', 'Failed') &&
    holds(updated, 'Complete') &&
    holds(updated, 'Failed') &&
    conditions('cannot set Complete=True and Failed=true conditions'),
  ({ updated, changed }) =>
    changed('Complete', 'FailureTarget') &&
    holds(updated, 'Complete') &&
    holds(updated, 'FailureTarget') &&
    conditions('cannot set Complete=True and FailureTarget=true conditions'),
  ({ updated, changed }) =>
    changed('Complete', 'completionTime') &&
    updated.completionTime !== undefined &&
    !holds(updated, 'Complete') &&
    invalid(
      'completionTime',
      updated.completionTime,
      'cannot set completionTime when there is no Complete=True condition',
    ),
  ({ updated, changed }) =>
    changed('Complete', 'completionTime') &&
    updated.completionTime === undefined &&
    holds(updated, 'Complete') &&
    required('completionTime', 'completionTime is required for Complete jobs'),
  ({ updated, changed }) =>
    changed('startTime', 'completionTime') &&
    Date.parse(updated.completionTime ?? '') < Date.parse(updated.startTime ?? '') &&
    invalid('completionTime', updated.completionTime, 'must be equal to or after `startTime`'),
  ({ updated, changed }) =>
    changed('Failed', 'failedIndexes') &&
    holds(updated, 'Failed') &&
    !holds(updated, 'FailureTarget') &&
    conditions('cannot set Failed=True condition without the FailureTarget=true condition'),
  ({ updated, changed }) =>
    changed('Complete', 'SuccessCriteriaMet') &&
    holds(updated, 'Complete') &&
    !holds(updated, 'SuccessCriteriaMet') &&
    conditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
  ({ updated, changed }) =>
    changed('finished', 'active') &&
    finished(updated) &&
    (updated.active ?? 0) > 0 &&
    invalid('active', updated.active, 'active>0 is invalid for finished job'),
  ({ updated, spec, changed }) =>
    changed('finished', 'startTime') &&
    finished(updated) &&
    updated.startTime === undefined &&
    !(spec.suspend && spec.completions === 0) &&
    required('startTime', 'startTime is required for finished job'),
  ({ updated, changed }) =>
    changed('finished', 'uncountedTerminatedPods') &&
    finished(updated) &&
    (updated.uncountedTerminatedPods?.failed ?? updated.uncountedTerminatedPods?.succeeded) !== undefined &&
    invalid('uncountedTerminatedPods', updated.uncountedTerminatedPods, 'must be empty for finished job'),
  ({ updated, spec, changed }) =>
    changed('completedIndexes') &&
    spec.completions !== undefined &&
    badIndexes('completedIndexes', updated, spec.completions),
  ({ updated, spec, changed }) =>
    changed('failedIndexes') &&
    spec.completions !== undefined &&
    spec.backoffLimitPerIndex !== undefined &&
    badIndexes('failedIndexes', updated, spec.completions),
  ({ updated, spec, changed }) =>
    changed('completedIndexes') &&
    updated.completedIndexes !== undefined &&
    updated.completedIndexes !== '' &&
    spec.completionMode !== 'Indexed' &&
    invalid(
      'completedIndexes',
      updated.completedIndexes,
      'cannot set non-empty completedIndexes when non-indexed completion mode',
    ),
  ({ updated, spec, changed }) =>
    changed('failedIndexes') &&
    updated.failedIndexes !== undefined &&
    spec.backoffLimitPerIndex === undefined &&
    invalid(
      'failedIndexes',
      updated.failedIndexes,
      'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    ),
  ({ updated, spec, changed }) => changed('failedIndexes', 'completedIndexes') && overlap(updated, spec),
  ({ updated, changed }) =>
    changed('finished', 'terminating') &&
    finished(updated) &&
    (updated.terminating ?? 0) > 0 &&
    invalid('terminating', updated.terminating, 'terminating>0 is invalid for finished job'),
  ({ updated, changed }) =>
    changed('ready', 'active') &&
    (updated.ready ?? 0) > (updated.active ?? 0) &&
    invalid('ready', updated.ready, 'cannot set more ready pods than active'),
  ({ updated }) =>
    holds(updated, 'SuccessCriteriaMet') &&
    holds(updated, 'Failed') &&
    conditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'),
  ({ updated }) =>
    holds(updated, 'SuccessCriteriaMet') &&
    holds(updated, 'FailureTarget') &&
    conditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  ({ updated, spec }) =>
    spec.successPolicy &&
    holds(updated, 'Complete') &&
    !holds(updated, 'SuccessCriteriaMet') &&
    conditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
  keepsTerminal('Failed'),
  keepsTerminal('Complete'),
  keepsTerminal('FailureTarget'),
  ({ updated, old }) =>
    (updated.failed ?? 0) < (old.failed ?? 0) &&
    invalid('failed', updated.failed ?? 0, 'cannot decrease the failed counter'),
  ({ updated, old, spec }) =>
    (updated.succeeded ?? 0) < (old.succeeded ?? 0) &&
    !(spec.completionMode === 'Indexed' && spec.completions === spec.parallelism) &&
    invalid('succeeded', updated.succeeded ?? 0, 'cannot decrease the succeeded counter'),
  ({ updated, old }) =>
    old.completionTime !== undefined &&
    updated.completionTime !== undefined &&
    updated.completionTime !== old.completionTime &&
    invalid('completionTime', updated.completionTime, 'field is immutable'),
  ({ updated, old, spec }) =>
    old.startTime !== undefined &&
    updated.startTime !== old.startTime &&
    !spec.suspend &&
    !resumes(old, updated) &&
    invalid('startTime', updated.startTime ?? null, 'field is immutable for unsuspended job once set'),
  ({ updated, old }) =>
    holds(old, 'SuccessCriteriaMet') &&
    !holds(updated, 'SuccessCriteriaMet') &&
    conditions('cannot disable the SuccessCriteriaMet=True condition'),
  ({ updated, old }) =>
    holds(old, 'Complete') &&
    !holds(old, 'SuccessCriteriaMet') &&
    holds(updated, 'SuccessCriteriaMet') &&
    conditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'),
];

function keepsTerminal(type: string): Check {
  return ({ updated, old }) =>
    holds(old, type) && !holds(updated, type) && conditions(`cannot disable the terminal ${type}=True condition`);
}

function resumes(old: JobStatus, updated: JobStatus): boolean {
  return (
    holds(old, 'Suspended') &&
    (updated.conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'False')
  );
}

function badIndexes(
  field: 'completedIndexes' | 'failedIndexes',
  updated: JobStatus,
  completions: number,
): FieldError | undefined {
  const text = updated[field] ?? '';
  const parsed = parseIndexes(text, completions);
  return 'error' in parsed ? invalid(field, text, `error parsing ${field}: ${parsed.error}`) : undefined;
}

function overlap({ completedIndexes, failedIndexes }: JobStatus, { completions }: JobSpec): FieldError | undefined {
  if (!completedIndexes || !failedIndexes || completions === undefined) return undefined;
  const index = firstCommonIndex(completedIndexes, failedIndexes, completions);
  if (index === undefined) return undefined;
  return invalid('failedIndexes', failedIndexes, `failedIndexes and completedIndexes overlap at index: ${index}`);
}

function uncountedPods({ uncountedTerminatedPods: pods }: JobStatus): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (pods?.[list] ?? []).flatMap((uid, index) => {
      const field = `uncountedTerminatedPods.${list}[${index}]`;
      if (!uid) return [invalid(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    }),
  );
}
