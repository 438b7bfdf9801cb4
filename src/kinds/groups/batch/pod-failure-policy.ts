/** Reaction of a Job to failed pods. The first rule that matches applies. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import type { PodTemplateSpec } from '../../shapes/pod/pod-template.ts';
import { choices, invalidCombination } from './field-errors.ts';

const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

const OnExitCodes = s.object(
  'PodFailurePolicyOnExitCodesRequirement',
  'Matches a failed pod by the exit codes of its containers.',
  {
    containerName: s.string(
      'Name of the container or init container to look at. Without it, any container of the pod can match.',
    ),
    operator: s.string(
      '`In` matches when the exit code of at least one container is one of values, `NotIn` when that of at least one is not. Containers that exited with 0 are not considered.',
      { zero: true },
    ),
    values: s.set(
      s.int32(),
      'Exit codes to compare with, 1 to 255 of them, in ascending order and without duplicates. 0 is not allowed with In.',
      { zero: true, maxItems: MAX_EXIT_CODES },
    ),
  },
);

const OnPodCondition = s.object(
  'PodFailurePolicyOnPodConditionsPattern',
  'Matches a failed pod by the type and status of one of its conditions.',
  {
    type: s.string('Type of the pod condition, such as DisruptionTarget. Required.', {
      zero: true,
      rules: [matches(qualifiedName)],
    }),
    status: s.string('Status the condition must have: True, False or Unknown. Defaults to True.', {
      default: 'True',
      rules: [(status: string) => oneOf(status, STATUSES)],
    }),
  },
);

const PodFailurePolicyRule = s.object(
  'PodFailurePolicyRule',
  'What to do with a pod that failed in a certain way. Exactly one of onExitCodes and onPodConditions must be set.',
  {
    action: s.string(
      "What to do when the rule matches: `FailJob` fails the Job and terminates its pods, `FailIndex` fails the pod's index (needs backoffLimitPerIndex), `Ignore` replaces the pod without counting the failure, `Count` counts it towards backoffLimit. Required.",
      { zero: true },
    ),
    onExitCodes: s.use(OnExitCodes, 'Exit codes the rule matches. Cannot be combined with onPodConditions.', {
      rules: [exitCodes],
    }),
    onPodConditions: s.list(
      OnPodCondition,
      'Pod conditions the rule matches; one of them is enough. At most 20. Cannot be combined with onExitCodes.',
      { maxItems: MAX_PATTERNS },
    ),
  },
  { rules: [oneRequirement] },
);

export const PodFailurePolicy = s.object('PodFailurePolicy', 'How a Job reacts to failed pods.', {
  rules: s.list(
    PodFailurePolicyRule,
    'Rules in order of precedence: the first that matches decides. If none does, the failure counts towards backoffLimit. At most 20.',
    { zero: true, maxItems: MAX_RULES },
  ),
});
type PodFailurePolicy = TypeOf<typeof PodFailurePolicy>;

/** Fields that the policy depends on. */
interface Spec {
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly backoffLimitPerIndex?: number;
  readonly template: PodTemplateSpec;
}

/** Checks a Job's spec: containers named in the policy exist, and FailIndex has its limit. */
export const policyFitsJob: Rule<Spec> = (spec) => {
  const policy = spec.podFailurePolicy;
  const { containers = [], initContainers = [] } = spec.template.spec;
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  return (policy?.rules ?? []).flatMap((rule, index) => {
    const found: FieldError[] = [];
    if (rule.action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
      found.push(invalid('action', rule.action, 'requires the backoffLimitPerIndex to be set'));
    }
    const container = rule.onExitCodes?.containerName;
    if (container !== undefined && !names.has(container)) {
      const words = 'must be one of the container or initContainer names in the pod template';
      found.push(invalid('onExitCodes.containerName', container, words));
    }
    return under(`podFailurePolicy.rules[${index}]`, found);
  });
};

interface Requirements {
  readonly action: string;
  readonly onExitCodes?: object;
  readonly onPodConditions?: readonly object[];
}

function oneRequirement(rule: Requirements): FieldError[] {
  const { action, onExitCodes, onPodConditions } = rule;
  const found = under('action', action ? oneOf(action, ACTIONS) : [required('', choices(ACTIONS))]);
  if (onExitCodes && onPodConditions) {
    found.push(invalidCombination('', 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!onExitCodes && !onPodConditions) {
    found.push(invalidCombination('', 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return found;
}

function exitCodes({
  operator,
  values,
}: {
  readonly operator: string;
  readonly values: readonly number[];
}): FieldError[] {
  const found = under('operator', operator ? oneOf(operator, OPERATORS) : [required('', choices(OPERATORS))]);
  if (values.length === 0) found.push(invalid('values', values, 'at least one value is required'));
  const seen = new Set<number>();
  values.forEach((value, index) => {
    const at = `values[${index}]`;
    if (operator === 'In' && value === 0) found.push(invalid(at, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) found.push(duplicate(at, value));
    seen.add(value);
  });
  const ordered = values.every((value, index) => index === 0 || values[index - 1]! <= value);
  if (!ordered) found.push(invalid('values', values, 'must be ordered'));
  return found;
}

function oneOf(value: string, words: readonly string[]): FieldError[] {
  return words.includes(value) ? [] : [notSupported('', value, words)];
}
