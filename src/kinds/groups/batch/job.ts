import { deepEqual } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { workloadColumns } from '../../columns/containers.ts';
import { elapsed, humanDuration } from '../../columns/elapsed.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import type { PodSpec } from '../../shapes/pod/pod-spec.ts';
import { labelsFromTemplate } from '../../shapes/workload/template-labels.ts';
import { labelsMatchSelector, selects } from '../../shapes/workload/workload-selector.ts';
import { JobSpec } from './job-spec.ts';
import { type JobObject, JobStatus } from './job-status.ts';
import { jobStatusRules } from './job-status-rules.ts';
import { jobWarnings } from './job-warnings.ts';

const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const NAME_LABEL = 'batch.kubernetes.io/job-name';
/** Labels without prefix, which older clients use. */
const OLD_UID_LABEL = 'controller-uid';
const OLD_NAME_LABEL = 'job-name';
const IMMUTABLE = 'field is immutable';

const withoutResources = ({ resources: _, ...container }: PodSpec['containers'][number]) => container;
/** The first condition that is True is the state; a Job being deleted is Terminating unless it has finished. */
const TERMINAL_CONDITIONS = ['Complete', 'Failed'] as const;
const OTHER_CONDITIONS = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'] as const;

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
  columns: ({ text }) => [
    name,
    text('Status', 'State of the Job.', statusText),
    text('Completions', 'Number of successful pods, of the desired number.', completionsText),
    text('Duration', 'How long the Job has run.', durationText),
    age,
    ...workloadColumns,
  ],
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

/** The pod template is immutable, except scheduling directives and resources of a suspended Job without pods. */
function templateUpdate(job: JobObject, { oldRoot }: RuleContext<JobObject, JobObject>): readonly FieldError[] {
  if (!oldRoot) return [];
  const { template } = job.spec;
  const before = oldRoot.spec.template;
  if (deepEqual(template, before)) return [];
  if (!isIdle(oldRoot)) return [invalid('spec.template', template, IMMUTABLE)];
  return deepEqual(fixedParts(template.spec), fixedParts(before.spec))
    ? []
    : [invalid('spec.template.spec', template.spec, IMMUTABLE)];
}

/** Reports whether the Job is suspended and has no pods: it has not started, or all its pods are gone. */
function isIdle({ spec, status = {} }: JobObject): boolean {
  const { active = 0, startTime, conditions = [] } = status;
  const atRest = conditions.some(({ type, status: is }) => type === 'Suspended' && is === 'True');
  return spec.suspend === true && active === 0 && (startTime === undefined || atRest);
}

/** A pod spec without the parts that may change: scheduling directives and resources. */
function fixedParts({ nodeSelector: _, tolerations: __, schedulingGates: ___, affinity, ...spec }: PodSpec): unknown {
  const { nodeAffinity: ____, ...otherAffinity } = affinity ?? {};
  const fixed = {
    ...spec,
    containers: (spec.containers ?? []).map(withoutResources),
    initContainers: (spec.initContainers ?? []).map(withoutResources),
  };
  return Object.keys(otherAffinity).length ? { ...fixed, affinity: otherAffinity } : fixed;
}

/** A hook: adds the labels and the selector. Labels with other values are kept, and rejected by the rule below. */
function generateSelector(job: JobObject): void {
  if (job.spec.manualSelector) return;
  const { name = '', uid = '' } = job.metadata;
  const { template, selector } = job.spec;
  template.metadata.labels = {
    [OLD_NAME_LABEL]: name,
    [NAME_LABEL]: name,
    [OLD_UID_LABEL]: uid,
    [UID_LABEL]: uid,
    ...template.metadata.labels,
  };
  job.spec.selector = { ...selector, matchLabels: { [UID_LABEL]: uid, ...selector?.matchLabels } };
}

/** The reverse of generateSelector, for an export. */
function forgetSelector({ metadata, spec }: JobObject): void {
  if (spec.manualSelector) return;
  delete (spec as Partial<typeof spec>).selector;
  for (const { labels } of [metadata, spec.template.metadata]) {
    for (const label of [UID_LABEL, NAME_LABEL, OLD_UID_LABEL, OLD_NAME_LABEL]) delete labels?.[label];
  }
  if (Object.keys(spec.template.metadata.labels ?? {}).length === 0) delete spec.template.metadata.labels;
}

/** A kind's rule: the selector matches the labels of the template. */
function selectorMatchesTemplate(job: JobObject, context: RuleContext<JobObject, JobObject>): readonly FieldError[] {
  const mismatch = labelsMatchSelector(job.spec.template.metadata, context.root.spec.selector);
  return mismatch ? under('spec.template.metadata', [mismatch]) : [];
}

/** A kind's rule: without manualSelector, labels and selector are the generated ones. */
function selectorIsGenerated(job: JobObject, { oldRoot }: RuleContext<JobObject, JobObject>): readonly FieldError[] {
  const { manualSelector, selector, template } = job.spec;
  if (manualSelector || !selector) return [];
  const { uid = '', name = '' } = job.metadata;
  const before = oldRoot?.spec.template.metadata.labels;
  // A Job that was stored before the labels had a prefix need not have the prefixed ones.
  const prefixed = !oldRoot || (before?.[NAME_LABEL] !== undefined && before?.[UID_LABEL] !== undefined);
  const expected = {
    [OLD_UID_LABEL]: uid,
    [OLD_NAME_LABEL]: name,
    ...(prefixed ? { [UID_LABEL]: uid, [NAME_LABEL]: name } : {}),
  };
  const found = Object.entries(expected).flatMap(([key, value]) => hasLabel(template.metadata.labels, key, value));
  if (selects(selector, expected) === false) {
    found.push(invalid('spec.selector', selector, '`selector` not auto-generated'));
  }
  return found;
}

function hasLabel(labels: Readonly<Record<string, string>> | undefined, key: string, value: string): FieldError[] {
  const field = `spec.template.metadata.labels[${key}]`;
  if (labels?.[key] === undefined) return [required(field, `must be '${value}'`)];
  return labels[key] === value ? [] : [invalid(field, labels, `must be '${value}'`)];
}
