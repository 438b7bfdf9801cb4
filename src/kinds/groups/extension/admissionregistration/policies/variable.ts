import { s } from '../../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../../schema/field-error.ts';
import type { TypeOf } from '../../../../../schema/schema.ts';

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var void ' +
    'while'
  ).split(' '),
);

/** A named expression that other expressions of a policy use. */
export const Variable = s.object(
  'Variable',
  'A named expression that other expressions use.',
  {
    name: s.string(
      'Name of the variable: a CEL identifier, unique in the list. Expressions read it as variables.NAME. Required.',
      { zero: true, required: 'name is not specified', rules: [isIdentifier] },
    ),
    expression: s.string(
      'CEL expression for the value, of any type. It may use what validations may use, and the variables before it. Evaluated ' +
        'at most once for each evaluation of the policy, when it is first read. Required.',
      { zero: true, required: 'expression is not specified', rules: [isNotBlank] },
    ),
  },
  { atomic: true },
);
export type Variable = TypeOf<typeof Variable>;

function isIdentifier(name: string): FieldError | undefined {
  if (name.trim() === '') return name === '' ? undefined : required('', 'name is not specified');
  return IDENTIFIER.test(name) && !RESERVED.has(name) ? undefined : invalid('', name, 'must be a valid CEL identifier');
}

function isNotBlank(expression: string): FieldError | undefined {
  return expression !== '' && expression.trim() === '' ? required('', 'expression is not specified') : undefined;
}
