/**
 * What a write of a Job's status may say. A Job may be run by somebody else's controller; clients that wait for the
 * end of a Job still rely on these. Most checks look only at what the write changes: a change of the spec may have made
 * the rest of the status wrong, and the controller must be able to put it right bit by bit.
 */
import { deepEqual } from '../../../base/tree.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { duplicate, invalid, required, under } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { invalidAsAWhole } from './field-errors.ts';
import { firstCommonIndex, parseIndexes } from './indexes.ts';
import type { JobStatus } from './job-status.ts';

/** A write of the status: what it was and what it is to be, and what the checks ask about it. */
interface Write {
  readonly spec: any;
  readonly was: JobStatus;
  readonly is: JobStatus;
  /** Whether one of these parts changes. */
  readonly changed: (...parts: readonly Part[]) => boolean;
}

type Part = keyof JobStatus | 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'finished';

type Check = (write: Write) => FieldError | false | undefined;

/** A kind's rule: acts on writes of the status alone. */
export function jobStatusRules(job: any, { subresource, oldRoot }: RuleContext): readonly FieldError[] {
  if (subresource !== 'status' || !oldRoot) return [];
  const is: JobStatus = job.status ?? {};
  const was: JobStatus = oldRoot.status ?? {};
  const changed = (...parts: readonly Part[]) => parts.some((part) => !deepEqual(read(was, part), read(is, part)));
  const write: Write = { spec: job.spec, was, is, changed };
  const found = uncountedPods(is);
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

const conditions = (words: string) => invalidAsAWhole('conditions', words);

const checks: readonly Check[] = [
  ({ is, changed }) =>
    changed('Complete', 'Failed') &&
    holds(is, 'Complete') &&
    holds(is, 'Failed') &&
    conditions('cannot set Complete=True and Failed=true conditions'),
  ({ is, changed }) =>
    changed('Complete', 'FailureTarget') &&
    holds(is, 'Complete') &&
    holds(is, 'FailureTarget') &&
    conditions('cannot set Complete=True and FailureTarget=true conditions'),
  ({ is, changed }) =>
    changed('Complete', 'completionTime') &&
    is.completionTime !== undefined &&
    !holds(is, 'Complete') &&
    invalid('completionTime', is.completionTime, 'cannot set completionTime when there is no Complete=True condition'),
  ({ is, changed }) =>
    changed('Complete', 'completionTime') &&
    is.completionTime === undefined &&
    holds(is, 'Complete') &&
    required('completionTime', 'completionTime is required for Complete jobs'),
  ({ is, changed }) =>
    changed('startTime', 'completionTime') &&
    Date.parse(is.completionTime ?? '') < Date.parse(is.startTime ?? '') &&
    invalid('completionTime', is.completionTime, 'must be equal to or after `startTime`'),
  ({ is, changed }) =>
    changed('Failed', 'failedIndexes') &&
    holds(is, 'Failed') &&
    !holds(is, 'FailureTarget') &&
    conditions('cannot set Failed=True condition without the FailureTarget=true condition'),
  ({ is, changed }) =>
    changed('Complete', 'SuccessCriteriaMet') &&
    holds(is, 'Complete') &&
    !holds(is, 'SuccessCriteriaMet') &&
    conditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
  ({ is, changed }) =>
    changed('finished', 'active') &&
    finished(is) &&
    (is.active ?? 0) > 0 &&
    invalid('active', is.active, 'active>0 is invalid for finished job'),
  ({ is, spec, changed }) =>
    changed('finished', 'startTime') &&
    finished(is) &&
    is.startTime === undefined &&
    !(spec.suspend && spec.completions === 0) &&
    required('startTime', 'startTime is required for finished job'),
  ({ is, changed }) =>
    changed('finished', 'uncountedTerminatedPods') &&
    finished(is) &&
    (is.uncountedTerminatedPods?.failed ?? is.uncountedTerminatedPods?.succeeded) !== undefined &&
    invalid('uncountedTerminatedPods', is.uncountedTerminatedPods, 'must be empty for finished job'),
  ({ is, spec, changed }) =>
    changed('completedIndexes') && spec.completions !== undefined && badIndexes('completedIndexes', is, spec),
  ({ is, spec, changed }) =>
    changed('failedIndexes') &&
    spec.completions !== undefined &&
    spec.backoffLimitPerIndex !== undefined &&
    badIndexes('failedIndexes', is, spec),
  ({ is, spec, changed }) =>
    changed('completedIndexes') &&
    is.completedIndexes &&
    spec.completionMode !== 'Indexed' &&
    invalid(
      'completedIndexes',
      is.completedIndexes,
      'cannot set non-empty completedIndexes when non-indexed completion mode',
    ),
  ({ is, spec, changed }) =>
    changed('failedIndexes') &&
    is.failedIndexes !== undefined &&
    spec.backoffLimitPerIndex === undefined &&
    invalid('failedIndexes', is.failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
  ({ is, spec, changed }) => changed('failedIndexes', 'completedIndexes') && overlap(is, spec),
  ({ is, changed }) =>
    changed('finished', 'terminating') &&
    finished(is) &&
    (is.terminating ?? 0) > 0 &&
    invalid('terminating', is.terminating, 'terminating>0 is invalid for finished job'),
  ({ is, changed }) =>
    changed('ready', 'active') &&
    (is.ready ?? 0) > (is.active ?? 0) &&
    invalid('ready', is.ready, 'cannot set more ready pods than active'),
  ({ is }) =>
    holds(is, 'SuccessCriteriaMet') &&
    holds(is, 'Failed') &&
    conditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'),
  ({ is }) =>
    holds(is, 'SuccessCriteriaMet') &&
    holds(is, 'FailureTarget') &&
    conditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  ({ is, spec }) =>
    spec.successPolicy &&
    holds(is, 'Complete') &&
    !holds(is, 'SuccessCriteriaMet') &&
    conditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
  keepsTerminal('Failed'),
  keepsTerminal('Complete'),
  keepsTerminal('FailureTarget'),
  ({ is, was }) =>
    (is.failed ?? 0) < (was.failed ?? 0) && invalid('failed', is.failed ?? 0, 'cannot decrease the failed counter'),
  ({ is, was, spec }) =>
    (is.succeeded ?? 0) < (was.succeeded ?? 0) &&
    !(spec.completionMode === 'Indexed' && spec.completions === spec.parallelism) &&
    invalid('succeeded', is.succeeded ?? 0, 'cannot decrease the succeeded counter'),
  ({ is, was }) =>
    was.completionTime !== undefined &&
    is.completionTime !== undefined &&
    is.completionTime !== was.completionTime &&
    invalid('completionTime', is.completionTime, 'field is immutable'),
  ({ is, was, spec }) =>
    was.startTime !== undefined &&
    is.startTime !== was.startTime &&
    !spec.suspend &&
    !resumes(was, is) &&
    invalid('startTime', is.startTime ?? null, 'field is immutable for unsuspended job once set'),
  ({ is, was }) =>
    holds(was, 'SuccessCriteriaMet') &&
    !holds(is, 'SuccessCriteriaMet') &&
    conditions('cannot disable the SuccessCriteriaMet=True condition'),
  ({ is, was }) =>
    holds(was, 'Complete') &&
    !holds(was, 'SuccessCriteriaMet') &&
    holds(is, 'SuccessCriteriaMet') &&
    conditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'),
];

function keepsTerminal(type: string): Check {
  return ({ is, was }) =>
    holds(was, type) && !holds(is, type) && conditions(`cannot disable the terminal ${type}=True condition`);
}

function resumes(was: JobStatus, is: JobStatus): boolean {
  return (
    holds(was, 'Suspended') &&
    (is.conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'False')
  );
}

function badIndexes(field: 'completedIndexes' | 'failedIndexes', is: JobStatus, spec: any): FieldError | undefined {
  const text = is[field] ?? '';
  const parsed = parseIndexes(text, spec.completions);
  return 'error' in parsed ? invalid(field, text, `error parsing ${field}: ${parsed.error}`) : undefined;
}

function overlap({ completedIndexes, failedIndexes }: JobStatus, { completions }: any): FieldError | undefined {
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
