/**
 * How a Job tells its pods from those of others: by its own uid, in labels that the system puts into the template and
 * the selector, unless the client chose a selector itself.
 */
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid, required, under } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { labelsMatchSelector, selects } from '../../shapes/workload/workload-selector.ts';

const UID = 'batch.kubernetes.io/controller-uid';
const NAME = 'batch.kubernetes.io/job-name';
/** What the same labels were called before they had a prefix. */
const OLD_UID = 'controller-uid';
const OLD_NAME = 'job-name';

/** Adds what is missing; labels that the client set differently are left for the rule to complain about. */
export function generateSelector(job: any): void {
  if (job.spec.manualSelector) return;
  const { name, uid } = job.metadata;
  const { template, selector } = job.spec;
  template.metadata.labels = {
    [OLD_NAME]: name,
    [NAME]: name,
    [OLD_UID]: uid,
    [UID]: uid,
    ...template.metadata.labels,
  };
  job.spec.selector = { ...selector, matchLabels: { [UID]: uid, ...selector?.matchLabels } };
}

/** A kind's rule: whoever chose the selector, it finds the pods. */
export function podsAreFound(job: any, context: RuleContext): readonly FieldError[] {
  const mismatch = labelsMatchSelector(job.spec.template.metadata, context);
  return mismatch ? under('spec.template.metadata', [mismatch]) : [];
}

/** A kind's rule: the labels and the selector are those of this Job. */
export function selectorIsGenerated(job: any, { oldRoot }: RuleContext): readonly FieldError[] {
  const { manualSelector, selector, template } = job.spec;
  if (manualSelector || !selector) return [];
  const { uid, name } = job.metadata;
  const before = oldRoot?.spec.template.metadata.labels;
  // A Job from before the labels had a prefix is not held to the new ones.
  const prefixed = !oldRoot || (before?.[NAME] !== undefined && before?.[UID] !== undefined);
  const expected = { [OLD_UID]: uid, [OLD_NAME]: name, ...(prefixed ? { [UID]: uid, [NAME]: name } : {}) };
  const found = Object.entries(expected).flatMap(([key, value]) => hasLabel(template.metadata.labels, key, value));
  if (selects(selector, expected) === false) {
    found.push(invalid('spec.selector', selector, '`selector` not auto-generated'));
  }
  return found;
}

function hasLabel(labels: any, key: string, value: string): FieldError[] {
  const field = `spec.template.metadata.labels[${key}]`;
  if (labels?.[key] === undefined) return [required(field, `must be '${value}'`)];
  return labels[key] === value ? [] : [invalid(field, labels, `must be '${value}'`)];
}
