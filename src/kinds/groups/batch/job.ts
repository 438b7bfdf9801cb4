import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { labelsFromTemplate } from '../../shapes/workload/template-labels.ts';
import { jobColumns } from './job-columns.ts';
import { forgetSelector, generateSelector, selectorIsGenerated, selectorMatchesTemplate } from './job-selector.ts';
import { JobSpec } from './job-spec.ts';
import { type JobObject, JobStatus } from './job-status.ts';
import { jobStatusRules } from './job-status-rules.ts';
import { templateUpdate } from './job-template-update.ts';
import { jobWarnings } from './job-warnings.ts';

/** Runs pods until enough of them have succeeded. */
export const Job = defineKind({
  kind: 'Job',
  categories: ['all'],
  scope: 'Namespaced',
  description:
    'Runs pods until a given number of them have succeeded. Failed pods are retried up to a limit. A finished Job and its pods stay until they are deleted or ttlSecondsAfterFinished has passed.',
  versions: { 'batch/v1': { orphansByDefault: true } },
  fields: {
    spec: s.use(
      JobSpec,
      'Desired behavior of the Job: its pods, how many must succeed, and what to do when they fail.',
      { default: {} },
    ),
    status: s.use(JobStatus, 'Most recently observed state of the Job, written by its controller.', { default: {} }),
  },
  subresources: { status: true },
  selectable: { 'status.successful': (job) => String(job.status?.succeeded ?? 0) },
  generation: true,
  onCreate: (job) => {
    labelsFromTemplate(job);
    generateSelector(job);
  },
  onUpdate: labelsFromTemplate,
  onExport: forgetSelector,
  rules: [
    selectorIsGenerated,
    selectorMatchesTemplate,
    hostnameLength,
    completionsUpdate,
    templateUpdate,
    jobStatusRules,
  ],
  warnings: (job, old) => jobWarnings(job, old, { spec: job.spec, path: 'spec' }),
  deleteWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  columns: jobColumns,
});
export type Job = ObjectOf<typeof Job>;

/** The host names of an indexed Job's pods are its name and their index; the longest of them must be valid. */
function hostnameLength({ metadata, spec }: JobObject): readonly FieldError[] {
  if (spec.completionMode !== 'Indexed' || !spec.completions || spec.completions <= 0) return [];
  const longest = `${metadata.name}-${spec.completions - 1}`;
  if (dnsLabel(longest).length === 0) return [];
  return [invalid('metadata.name', metadata.name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

/** completions is immutable, except that an indexed Job can be resized together with its parallelism. */
function completionsUpdate({ spec }: JobObject, { oldRoot }: RuleContext<JobObject, JobObject>): readonly FieldError[] {
  const { completions, completionMode, parallelism } = spec;
  if (!oldRoot || completions === oldRoot.spec.completions) return [];
  if (completionMode !== 'Indexed') return [invalid('spec.completions', completions ?? null, 'field is immutable')];
  return completions === undefined || completions === parallelism
    ? []
    : [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}
