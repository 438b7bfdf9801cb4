/** Functions of strings in the language itself, and `size`. */
import { matchesAnywhere, RegularExpressionError, regularExpression } from '../../base/text/regular-expression.ts';
import { bulkCost, REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR, traversalCost } from '../cost/constants.ts';
import { matchingCost, readsArgument, searchesTarget } from '../cost/estimates.ts';
import type { CallNode, FunctionDeclaration, Overload } from '../library.ts';
import { BOOL, BYTES, INT, listType, mapType, STRING, type Type, typeParameter } from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { costSizeOf, sizeOf } from '../values/size.ts';
import type { Value } from '../values/value.ts';
import { member, plain, readsFirst } from './declare.ts';

const sized: readonly [string, Type][] = [
  ['string', STRING],
  ['bytes', BYTES],
  ['list', listType(typeParameter('T'))],
  ['map', mapType(typeParameter('K'), typeParameter('V'))],
];

/** cel-go counts one unit. */
const SIZE: Pick<Overload, 'cost'> = { cost: (_, size) => 1 + bulkCost(size as number) };

const MATCHES: Pick<Overload, 'costBefore' | 'estimate'> = {
  costBefore: ([text, expression]) =>
    Math.ceil((1 + costSizeOf(text!)) * STRING_TRAVERSAL_FACTOR) *
    Math.ceil(costSizeOf(expression!) * REGEX_LENGTH_FACTOR),
  estimate: (call: CallNode) => {
    const [text, expression] = call.target === undefined ? call.args : [call.target, call.args[0]];
    return { cost: matchingCost(call.sizeOf(text!), call.sizeOf(expression!)) };
  },
};

export const TEXT_FUNCTIONS: readonly FunctionDeclaration[] = [
  {
    name: 'size',
    overloads: sized.flatMap(([id, type]) => [
      plain(`size_${id}`, [type], INT, (value: Value) => sizeOf(value)!, SIZE),
      member(`${id}_size`, [type], INT, (value: Value) => sizeOf(value)!, SIZE),
    ]),
  },
  {
    name: 'contains',
    overloads: [
      member('contains_string', [STRING, STRING], BOOL, (text: string, part: string) => text.includes(part), {
        costBefore: ([text, part]) => traversalCost(costSizeOf(text!)) * traversalCost(costSizeOf(part!)),
        estimate: searchesTarget,
      }),
    ],
  },
  {
    name: 'startsWith',
    overloads: [
      member('starts_with_string', [STRING, STRING], BOOL, (text: string, part: string) => text.startsWith(part), {
        costBefore: readsFirst,
        estimate: readsArgument,
      }),
    ],
  },
  {
    name: 'endsWith',
    overloads: [
      member('ends_with_string', [STRING, STRING], BOOL, (text: string, part: string) => text.endsWith(part), {
        costBefore: readsFirst,
        estimate: readsArgument,
      }),
    ],
  },
  {
    name: 'matches',
    overloads: [
      plain('matches', [STRING, STRING], BOOL, matches, MATCHES),
      member('matches_string', [STRING, STRING], BOOL, matches, MATCHES),
    ],
  },
];

function matches(text: string, expression: string): boolean {
  try {
    return matchesAnywhere(regularExpression(expression), text);
  } catch (error) {
    if (error instanceof RegularExpressionError) return fail(error.message);
    throw error;
  }
}
