/**
 * The generated selector of a Job: it matches labels with the UID and name of the JobObject, which the server adds to the pod
 * template. With manualSelector the client chooses the selector instead.
 */
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { labelsMatchSelector, selects } from '../../shapes/workload/workload-selector.ts';
import type { JobObject } from './job-status.ts';

const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const NAME_LABEL = 'batch.kubernetes.io/job-name';
/** Labels without prefix, which older clients use. */
const OLD_UID_LABEL = 'controller-uid';
const OLD_NAME_LABEL = 'job-name';

/** A hook: adds the labels and the selector. Labels with other values are kept, and rejected by the rule below. */
export function generateSelector(job: JobObject): void {
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
export function forgetSelector({ metadata, spec }: JobObject): void {
  if (spec.manualSelector) return;
  delete (spec as Partial<typeof spec>).selector;
  for (const { labels } of [metadata, spec.template.metadata]) {
    for (const label of [UID_LABEL, NAME_LABEL, OLD_UID_LABEL, OLD_NAME_LABEL]) delete labels?.[label];
  }
  if (Object.keys(spec.template.metadata.labels ?? {}).length === 0) delete spec.template.metadata.labels;
}

/** A kind's rule: the selector matches the labels of the template. */
export function selectorMatchesTemplate(
  job: JobObject,
  context: RuleContext<JobObject, JobObject>,
): readonly FieldError[] {
  const mismatch = labelsMatchSelector(job.spec.template.metadata, context.root.spec.selector);
  return mismatch ? under('spec.template.metadata', [mismatch]) : [];
}

/** A kind's rule: without manualSelector, labels and selector are the generated ones. */
export function selectorIsGenerated(
  job: JobObject,
  { oldRoot }: RuleContext<JobObject, JobObject>,
): readonly FieldError[] {
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
