import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import { dns1035Label, dnsSubdomain } from '../../../../schema/names.ts';
import { LabelSelector } from '../../../shapes/meta/label-selector.ts';
import { conditionsCompile, matchConditions } from './match-condition.ts';
import { RuleWithOperations } from './rule.ts';
import { WebhookClientConfig } from './webhook-client.ts';

const DEFAULT_TIMEOUT_S = 10;
const MAX_TIMEOUT_S = 30;
const MIN_NAME_SEGMENTS = 3;
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** The fields of validating and mutating webhooks. */
export const webhookFields = {
  name: s.string(
    'Name of the webhook: a DNS subdomain of at least three parts, unique in the configuration. Required.',
    { zero: true, required: true, rules: [isFullyQualified] },
  ),
  clientConfig: s.use(WebhookClientConfig, 'How to reach the webhook. Required.', { zero: true }),
  rules: s.list(
    RuleWithOperations,
    'Requests that the webhook is asked about: those that match any of the rules. Webhook configurations and admission policies ' +
      'are never among them.',
  ),
  failurePolicy: s.enum(
    ['Fail', 'Ignore'],
    'What happens when the webhook cannot be called or its response is invalid: Fail rejects the request, Ignore goes on without ' +
      'it. Defaults to Fail.',
    { default: 'Fail' },
  ),
  matchPolicy: s.enum(
    ['Equivalent', 'Exact'],
    'Whether a rule also matches requests in another version of the same resource: Equivalent converts the object to the version ' +
      'of the rule, Exact ignores the request. Defaults to Equivalent.',
    { default: 'Equivalent' },
  ),
  namespaceSelector: s.use(
    LabelSelector,
    'Labels of the namespaces whose objects the webhook is asked about; of a Namespace its own labels count. Objects without a ' +
      'namespace always match. Defaults to all.',
    { default: {} },
  ),
  objectSelector: s.use(
    LabelSelector,
    'Labels of the objects that the webhook is asked about: those of the new object or of the old one must match. Defaults to all.',
    { default: {} },
  ),
  sideEffects: s.enum(
    ['None', 'NoneOnDryRun'],
    'Whether the webhook does anything besides answering: None, or NoneOnDryRun if it does nothing else for dry runs. Required.',
    { required: 'must specify one of None, NoneOnDryRun' },
  ),
  timeoutSeconds: s.int32('Seconds, from 1 to 30, after which a call counts as failed. Defaults to 10.', {
    default: DEFAULT_TIMEOUT_S,
    rules: [timeoutIsValid],
  }),
  admissionReviewVersions: s.list(
    s.string(),
    'Versions of AdmissionReview that the webhook accepts, the preferred one first. At least one of v1 and v1beta1. Required.',
    { required: `must specify one of ${REVIEW_VERSIONS.join(', ')}`, rules: [reviewVersionsAreValid] },
  ),
  matchConditions: s.use(matchConditions, { rules: [conditionsCompile] }),
};

function isFullyQualified(text: string): FieldError[] {
  const problems = dnsSubdomain(text);
  if (problems.length > 0) return problems.map((problem) => invalid('', text, problem));
  if (text.split('.').length >= MIN_NAME_SEGMENTS) return [];
  return [invalid('', text, 'should be a domain with at least three segments separated by dots')];
}

function timeoutIsValid(seconds: number): FieldError | undefined {
  if (seconds >= 1 && seconds <= MAX_TIMEOUT_S) return undefined;
  return invalid('', seconds, 'the timeout value must be between 1 and 30 seconds');
}

function reviewVersionsAreValid(versions: readonly string[]): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    if (seen.has(version)) found.push(invalid(`[${index}]`, version, 'duplicate version'));
    else for (const problem of dns1035Label(version)) found.push(invalid(`[${index}]`, version, problem));
    seen.add(version);
  });
  if (versions.length > 0 && !REVIEW_VERSIONS.some((version) => seen.has(version))) {
    found.push(invalid('', versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return found;
}
