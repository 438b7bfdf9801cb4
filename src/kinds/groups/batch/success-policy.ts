/** Success criteria of an indexed Job: it succeeds as soon as one rule is met, before all indexes have succeeded. */
import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, tooLong, under } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { parseIndexes } from './indexes.ts';

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

const SuccessPolicyRule = s.object('SuccessPolicyRule', 'A set of indexes whose success makes the Job successful.', {
  succeededIndexes: s.string(
    'Indexes of which enough must succeed, as a list of numbers and ranges such as 1,3-5. Without it, all indexes count.',
  ),
  succeededCount: s.int32(
    'Number of the named indexes that must succeed. Without it, all of them must. At least one of the two fields is required.',
    { min: 0 },
  ),
});
type SuccessPolicyRule = TypeOf<typeof SuccessPolicyRule>;

export const SuccessPolicy = s.object(
  'SuccessPolicy',
  'When an indexed Job counts as successful before all of its indexes have succeeded.',
  {
    rules: s.list(
      SuccessPolicyRule,
      'Rules, in order. As soon as one is met, the Job succeeds and its remaining pods are terminated. At least 1 and at most 20.',
      { zero: true, maxItems: MAX_RULES },
    ),
  },
);
type SuccessPolicy = TypeOf<typeof SuccessPolicy>;

/** Fields that the policy depends on. */
interface Spec {
  readonly completions?: number;
  readonly completionMode?: string;
  readonly successPolicy?: SuccessPolicy;
}

/** Checks that the success policy fits a Job's spec. */
export const successFitsJob: Rule<Spec> = ({ completions, completionMode, successPolicy }) => {
  if (!successPolicy) return undefined;
  if (completionMode !== 'Indexed') {
    return invalid('successPolicy', successPolicy, 'requires indexed completion mode');
  }
  const { rules }: SuccessPolicy = successPolicy;
  const found: FieldError[] = [];
  if (rules.length === 0) {
    found.push(required('', 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (completions !== undefined) {
    rules.forEach((rule, index) => {
      addAll(found, under(`[${index}]`, checkRule(rule, completions)));
    });
  }
  return under('successPolicy.rules', found);
};

function checkRule({ succeededCount, succeededIndexes }: SuccessPolicyRule, completions: number): FieldError[] {
  if (succeededCount === undefined && succeededIndexes === undefined) {
    return [required('', 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const found: FieldError[] = [];
  let namedCount = Number.POSITIVE_INFINITY;
  if (succeededIndexes !== undefined) {
    const field = 'succeededIndexes';
    if (Buffer.byteLength(succeededIndexes) > MAX_INDEXES_BYTES) found.push(tooLong(field, MAX_INDEXES_BYTES));
    const parsed = parseIndexes(succeededIndexes, completions);
    if ('error' in parsed) {
      found.push(invalid(field, succeededIndexes, `error parsing succeededIndexes: ${parsed.error}`));
    }
    namedCount = 'error' in parsed ? 0 : parsed.total;
  }
  if (succeededCount !== undefined && succeededCount > completions) {
    const words = `must be less than or equal to ${completions} (the number of specified completions)`;
    found.push(invalid('succeededCount', succeededCount, words));
  }
  if (succeededCount !== undefined && succeededCount > namedCount) {
    const words = `must be less than or equal to ${namedCount} (the number of indexes in the specified succeededIndexes field)`;
    found.push(invalid('succeededCount', succeededCount, words));
  }
  return found;
}
