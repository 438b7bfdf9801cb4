import { age, type Column, name, type Sparse, text } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { elapsed, humanDuration } from '../../columns/elapsed.ts';
import type { JobObject } from './job-status.ts';

export const jobColumns: readonly Column<JobObject>[] = [
  name,
  text('Status', 'State of the Job.', statusText),
  text('Completions', 'Number of successful pods, of the desired number.', completionsText),
  text('Duration', 'How long the Job has run.', durationText),
  age,
  ...workloadColumns,
];

/** The first condition that is True is the state; a Job being deleted is Terminating unless it has finished. */
const TERMINAL_CONDITIONS = ['Complete', 'Failed'] as const;
const OTHER_CONDITIONS = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'] as const;

function statusText({ metadata, status }: Sparse<JobObject>): string {
  const holds = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted)?.status === 'True';
  return (
    TERMINAL_CONDITIONS.find(holds) ??
    (metadata?.deletionTimestamp ? 'Terminating' : (OTHER_CONDITIONS.find(holds) ?? 'Running'))
  );
}

function completionsText({ spec, status }: Sparse<JobObject>): string {
  const succeeded = status?.succeeded ?? 0;
  if (typeof spec?.completions === 'number') return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Sparse<JobObject>, now: number): string {
  const { startTime, completionTime } = status ?? {};
  if (!startTime) return '';
  return completionTime ? humanDuration(Date.parse(completionTime) - Date.parse(startTime)) : elapsed(startTime, now);
}
