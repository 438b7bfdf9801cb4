import { age, type Column, name, text } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { elapsed, humanDuration } from '../../columns/elapsed.ts';

export const jobColumns: readonly Column[] = [
  name,
  text('Status', 'How the work stands.', statusText),
  text('Completions', 'How many pods have succeeded, of how many that should.', completionsText),
  text('Duration', 'How long the work has taken.', durationText),
  age,
  ...workloadColumns,
];

/** The first condition that holds says how a job stands; a deletion comes in between. */
const ENDS = ['Complete', 'Failed'] as const;
const TURNS = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'] as const;

function statusText({ metadata, status }: any): string {
  const conditions: readonly any[] = status?.conditions ?? [];
  const holds = (wanted: string) => conditions.find(({ type }) => type === wanted)?.status === 'True';
  return ENDS.find(holds) ?? (metadata?.deletionTimestamp ? 'Terminating' : (TURNS.find(holds) ?? 'Running'));
}

function completionsText({ spec, status }: any): string {
  const succeeded = status?.succeeded ?? 0;
  if (typeof spec?.completions === 'number') return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: any, now: number): string {
  const { startTime, completionTime } = status ?? {};
  if (!startTime) return '';
  return completionTime ? humanDuration(Date.parse(completionTime) - Date.parse(startTime)) : elapsed(startTime, now);
}
