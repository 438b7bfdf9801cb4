import { s } from '../../../schema/builders.ts';
import { required } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';

const MAX_MATCH_CONDITIONS = 64;

const MatchCondition = s.object(
  'MatchCondition',
  {
    name: s.string({
      zero: true,
      required: true,
      rules: [matches(qualifiedName)],
      description: 'Name of the condition, for logs and annotations. A qualified name, unique in the list. Required.',
    }),
    expression: s.string({
      zero: true,
      required: true,
      rules: [isNotBlank],
      description:
        'CEL expression that gives a boolean. It may use object, oldObject, request, namespaceObject, authorizer and ' +
        'authorizer.requestResource. Required.',
    }),
  },
  { description: 'An expression that must be true for a request to match.' },
);

export const matchConditions = s.listMap(MatchCondition, {
  keys: ['name'],
  maxItems: MAX_MATCH_CONDITIONS,
  rules: [unique('name')],
  description:
    'Expressions that must all be true for a request to match; at most 64. When one is false, the request does not match. When ' +
    'one fails and none is false, failurePolicy decides.',
});

function isNotBlank(expression: string) {
  return expression !== '' && expression.trim() === '' ? required('') : undefined;
}
