/**
 * What a Job is to do. A Job's own spec has defaults, and parts of it cannot change; in a CronJob's template neither is
 * so, because a Job is yet to be made of it.
 */
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid, notSupported, required, tooLong } from '../../../schema/field-error.ts';
import { domainPrefixedPath } from '../../../schema/names.ts';
import type { Rule } from '../../../schema/schema.ts';
import { UNLIMITED } from '../../conversion/unlimited.ts';
import { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { PodTemplateSpec } from '../../shapes/pod/pod-template.ts';
import { indexedLimits } from './indexed-limits.ts';
import { PodFailurePolicy, policyFitsJob } from './pod-failure-policy.ts';
import { SuccessPolicy, successFitsJob } from './success-policy.ts';

const MAX_MANAGED_BY = 63;

const managedBy: Rule<string> = (value) => {
  const found: FieldError[] = domainPrefixedPath(value).map((complaint) => invalid('', value, complaint));
  if (Buffer.byteLength(value) > MAX_MANAGED_BY) found.push(tooLong('', MAX_MANAGED_BY));
  return found;
};

/** While failures are sorted by a policy, a pod is replaced only once it has failed for good. */
const replacementFitsPolicy: Rule = ({ podFailurePolicy, podReplacementPolicy: policy }) => {
  const supported = podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return policy && !supported.includes(policy) ? notSupported('podReplacementPolicy', policy, supported) : undefined;
};

/** The pods of a Job end: they are not restarted for ever, and a policy for failures wants to see each one. */
const podsEnd: Rule = ({ podFailurePolicy, template }) => {
  const field = 'template.spec.restartPolicy';
  const policy = template.spec.restartPolicy;
  if (policy === 'Always') return required(field, 'valid values: "OnFailure", "Never"');
  return podFailurePolicy && policy === 'OnFailure'
    ? invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
    : undefined;
};

const rules = [indexedLimits, policyFitsJob, successFitsJob, replacementFitsPolicy, podsEnd];

const fields = {
  completions: s.int32({
    min: 0,
    description: 'How many pods must succeed; where absent, the first success is the success of the Job.',
  }),
  parallelism: s.int32({ min: 0, description: 'How many pods may run at a time.' }),
  activeDeadlineSeconds: s.int64({
    min: 1,
    description: 'How long the Job may take, from its start time, before it is ended and has failed; at least 1.',
  }),
  podFailurePolicy: s.use(PodFailurePolicy, { description: 'How failures of pods are dealt with.' }),
  successPolicy: s.use(SuccessPolicy, { description: 'When the Job has succeeded before all its indexes have.' }),
  backoffLimit: s.int32({ min: 0, description: 'How many failures are put up with before the Job has failed.' }),
  backoffLimitPerIndex: s.int32({ min: 0, description: 'The same for each index of an indexed Job.' }),
  maxFailedIndexes: s.int32({ min: 0, description: 'How many indexes may fail before the Job has failed.' }),
  selector: s.use(LabelSelector, { description: 'Which pods are counted; normally set by the system.' }),
  manualSelector: s.boolean({
    description:
      'True when the client chose the selector; otherwise the system picks labels of its own and adds them to the template.',
  }),
  template: s.use(PodTemplateSpec, { zero: true, description: 'The pods that do the work.' }),
  ttlSecondsAfterFinished: s.int32({ min: 0, description: 'How long the finished Job is kept before it is deleted.' }),
  completionMode: s.enum(['NonIndexed', 'Indexed'], {
    description: 'Indexed: each pod has a number of its own, and one success for each number completes the Job.',
  }),
  suspend: s.boolean({ description: 'Stops the Job: no pods are started, and active ones are deleted.' }),
  podReplacementPolicy: s.string({
    description: 'Whether a pod is replaced once it is terminating, or once it failed.',
  }),
  managedBy: s.string({
    rules: [managedBy],
    description: 'The controller in charge, where it is not the built-in one.',
  }),
};

/** A Job's own spec. */
export const JobSpec = s.object(
  'JobSpec',
  {
    ...fields,
    // Looks at parallelism, and so stands before it.
    completions: s.use(fields.completions, {
      default: (spec: any): number | undefined => (spec.parallelism === undefined ? 1 : undefined),
    }),
    parallelism: s.use(fields.parallelism, { default: 1 }),
    podFailurePolicy: s.use(fields.podFailurePolicy, { immutable: true }),
    successPolicy: s.use(fields.successPolicy, { immutable: true }),
    backoffLimit: s.use(fields.backoffLimit, {
      default: (spec: any): number => (spec.backoffLimitPerIndex === undefined ? 6 : UNLIMITED),
    }),
    backoffLimitPerIndex: s.use(fields.backoffLimitPerIndex, { immutable: true }),
    selector: s.use(fields.selector, { required: true, immutable: true }),
    manualSelector: s.use(fields.manualSelector, { default: false }),
    completionMode: s.use(fields.completionMode, { default: 'NonIndexed', immutable: true }),
    suspend: s.use(fields.suspend, { default: false }),
    podReplacementPolicy: s.use(fields.podReplacementPolicy, {
      default: (spec: any): string => (spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'),
    }),
    managedBy: s.use(fields.managedBy, { immutable: true }),
  },
  { rules },
);

const generatedLater: Rule = ({ selector, manualSelector }) => {
  const found: FieldError[] = [];
  if (selector) found.push(invalid('selector', selector, '`selector` will be auto-generated'));
  if (manualSelector) found.push(notSupported('manualSelector', manualSelector, ['nil', 'false']));
  return found;
};

/** What a CronJob makes Jobs of. */
export const JobTemplateSpec = s.object('JobTemplateSpec', {
  metadata: s.use(ObjectMeta, { default: {}, description: 'Labels and annotations that every such Job gets.' }),
  spec: s.object('JobSpec', fields, {
    default: {},
    rules: [...rules, generatedLater],
    description: 'What every such Job is to do.',
  }),
});
