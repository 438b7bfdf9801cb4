/** What a Job does when one of its pods fails: the first rule that fits decides. */
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { duplicate, invalid, notSupported, required, tooMany, under } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { choices, invalidAsAWhole } from './words.ts';

const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

const OnExitCodes = s.object('PodFailurePolicyOnExitCodesRequirement', {
  containerName: s.string({ description: 'Only this container; where absent, any of them.' }),
  operator: s.string({ zero: true, description: 'In or NotIn.' }),
  values: s.set(s.int32(), { zero: true, description: 'Exit codes in growing order; In cannot name 0.' }),
});

const OnPodCondition = s.object('PodFailurePolicyOnPodConditionsPattern', {
  type: s.string({ zero: true, rules: [matches(qualifiedName)] }),
  status: s.string({ default: 'True', rules: [(status: string) => oneOf(status, STATUSES)] }),
});

const PodFailurePolicyRule = s.object(
  'PodFailurePolicyRule',
  {
    action: s.string({
      zero: true,
      description:
        'FailJob ends the Job, FailIndex gives up the index, Ignore does not count the failure, Count counts it.',
    }),
    onExitCodes: s.use(OnExitCodes, { rules: [exitCodes] }),
    onPodConditions: s.list(OnPodCondition, {
      rules: [(patterns: readonly unknown[]) => atMost(patterns, MAX_PATTERNS)],
    }),
  },
  { rules: [oneRequirement] },
);

export const PodFailurePolicy = s.object('PodFailurePolicy', {
  rules: s.list(PodFailurePolicyRule, { zero: true, rules: [(rules: readonly unknown[]) => atMost(rules, MAX_RULES)] }),
});
type PodFailurePolicy = TypeOf<typeof PodFailurePolicy>;

/** On a Job's spec: what the policy says must fit the rest of it. */
export const policyFitsJob: Rule = (spec) => {
  const policy: PodFailurePolicy | undefined = spec.podFailurePolicy;
  const { containers = [], initContainers = [] } = spec.template.spec;
  const names = [...containers, ...initContainers].map(({ name }) => name);
  return (policy?.rules ?? []).flatMap((rule, index) => {
    const found: FieldError[] = [];
    if (rule.action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
      found.push(invalid('action', rule.action, 'requires the backoffLimitPerIndex to be set'));
    }
    const container = rule.onExitCodes?.containerName;
    if (container !== undefined && !names.includes(container)) {
      const words = 'must be one of the container or initContainer names in the pod template';
      found.push(invalid('onExitCodes.containerName', container, words));
    }
    return under(`podFailurePolicy.rules[${index}]`, found);
  });
};

function oneRequirement(rule: any): FieldError[] {
  const { action, onExitCodes, onPodConditions } = rule;
  const found = under('action', action ? oneOf(action, ACTIONS) : [required('', choices(ACTIONS))]);
  if (onExitCodes && onPodConditions) {
    found.push(invalidAsAWhole('', 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!onExitCodes && !onPodConditions) {
    found.push(invalidAsAWhole('', 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return found;
}

function exitCodes({ operator, values }: any): FieldError[] {
  const found = under('operator', operator ? oneOf(operator, OPERATORS) : [required('', choices(OPERATORS))]);
  if (values.length === 0) found.push(invalid('values', values, 'at least one value is required'));
  found.push(...under('values', atMost(values, MAX_EXIT_CODES)));
  values.forEach((value: number, index: number) => {
    const at = `values[${index}]`;
    if (operator === 'In' && value === 0) found.push(invalid(at, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < index) found.push(duplicate(at, value));
  });
  const ordered = values.every((value: number, index: number) => index === 0 || values[index - 1] <= value);
  if (!ordered) found.push(invalid('values', values, 'must be ordered'));
  return found;
}

function oneOf(value: string, words: readonly string[]): FieldError[] {
  return words.includes(value) ? [] : [notSupported('', value, words)];
}

function atMost(items: readonly unknown[], limit: number): FieldError[] {
  return items.length > limit ? [tooMany('', items.length, limit)] : [];
}
