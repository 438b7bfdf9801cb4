import { deepEqual } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import { qualifiedName } from '../../../../schema/names.ts';
import { matches, unique } from '../../../../schema/rules.ts';
import type { RuleContext, TypeOf } from '../../../../schema/schema.ts';
import { compileMatchCondition } from './expressions/policy-compiler.ts';

const MAX_MATCH_CONDITIONS = 64;

const MatchCondition = s.object('MatchCondition', 'An expression that must be true for a request to match.', {
  name: s.string('Name of the condition, for logs and annotations. A qualified name, unique in the list. Required.', {
    zero: true,
    required: true,
    rules: [matches(qualifiedName)],
  }),
  expression: s.string(
    'CEL expression that gives a boolean. It may use object, oldObject, request, namespaceObject, authorizer and ' +
      'authorizer.requestResource. Required.',
    { zero: true, required: true, rules: [isNotBlank] },
  ),
});

type MatchCondition = TypeOf<typeof MatchCondition>;

export const matchConditions = s.listMap(
  MatchCondition,
  'Expressions that must all be true for a request to match; at most 64. When one is false, the request does not match. When ' +
    'one fails and none is false, failurePolicy decides.',
  { keys: ['name'], maxItems: MAX_MATCH_CONDITIONS, rules: [unique('name')] },
);

function isNotBlank(expression: string) {
  return expression !== '' && expression.trim() === '' ? required('') : undefined;
}

/** Checks that the conditions of a webhook compile. Conditions that did not change are accepted. */
export function conditionsCompile(
  conditions: readonly MatchCondition[],
  { old }: RuleContext<readonly MatchCondition[]>,
): FieldError[] {
  if (old && deepEqual(old, conditions)) return [];
  return conditions.flatMap(({ expression }, index) => {
    if (expression.trim() === '') return [];
    const { error } = compileMatchCondition(expression, false);
    return error === undefined ? [] : [invalid(`[${index}].expression`, expression.trim(), error)];
  });
}
