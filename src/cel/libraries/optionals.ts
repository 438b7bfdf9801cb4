/** Optional values: `optional.of(x)`, `a.?b`, `a[?0]`, `orValue`, `optMap` and so on. */
import type { Library, MacroCall } from '../library.ts';
import { builder } from '../syntax/build.ts';
import type { Expression } from '../syntax/expression.ts';
import { BOOL, DYN, INT, listType, mapType, optionalType, STRING, typeParameter } from '../types/type.ts';
import { fail, noSuchOverload } from '../values/failure.ts';
import { numericValue } from '../values/numbers.ts';
import { costSizeOf, sizeOf } from '../values/size.ts';
import { Duration, Optional, type Value } from '../values/value.ts';
import { member, plain } from './declare.ts';

const K = typeParameter('K');
const V = typeParameter('V');
const OPTIONAL = optionalType(V);
const LIST = listType(V);
const MAP = mapType(K, V);

/** The evaluator does not call these. */
function builtIn(): never {
  return noSuchOverload();
}

export const OPTIONAL_LIBRARY: Library = {
  name: 'optional',
  macros: [
    { name: 'optMap', member: true, arity: 2, expand: (call) => optionalMap(call, 'optMap') },
    { name: 'optFlatMap', member: true, arity: 2, expand: (call) => optionalMap(call, 'optFlatMap') },
  ],
  functions: [
    { name: 'optional.of', overloads: [plain('optional_of', [V], OPTIONAL, (value: Value) => new Optional(value))] },
    { name: 'optional.none', overloads: [plain('optional_none', [], OPTIONAL, () => Optional.NONE)] },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        plain('optional_ofNonZeroValue', [V], OPTIONAL, (value: Value) =>
          isZero(value) ? Optional.NONE : new Optional(value),
        ),
      ],
    },
    {
      name: 'value',
      overloads: [member('optional_value', [OPTIONAL], V, ({ value }: Optional) => noneFails(value))],
    },
    {
      name: 'hasValue',
      overloads: [member('optional_hasValue', [OPTIONAL], BOOL, ({ value }: Optional) => value !== undefined)],
    },
    { name: 'or', overloads: [member('optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL, builtIn)] },
    { name: 'orValue', overloads: [member('optional_orValue_value', [OPTIONAL, V], V, builtIn)] },
    { name: '_?._', overloads: [plain('select_optional_field', [DYN, STRING], OPTIONAL, builtIn)] },
    {
      name: '_[?_]',
      overloads: [
        plain('list_optindex_optional_int', [LIST, INT], OPTIONAL, builtIn),
        plain('optional_list_optindex_optional_int', [optionalType(LIST), INT], OPTIONAL, builtIn),
        plain('map_optindex_optional_value', [MAP, K], OPTIONAL, builtIn),
        plain('optional_map_optindex_optional_value', [optionalType(MAP), K], OPTIONAL, builtIn),
      ],
    },
    {
      name: '_[_]',
      overloads: [
        plain('optional_list_index_int', [optionalType(LIST), INT], OPTIONAL, builtIn),
        plain('optional_map_index_value', [optionalType(MAP), K], OPTIONAL, builtIn),
      ],
    },
    { name: 'first', overloads: [member('list_first', [LIST], OPTIONAL, (list: Value[]) => itemAt(list, 0))] },
    {
      name: 'last',
      overloads: [member('list_last', [LIST], OPTIONAL, (list: Value[]) => itemAt(list, list.length - 1))],
    },
    {
      name: 'optional.unwrap',
      overloads: [plain('optional_unwrap', [listType(OPTIONAL)], LIST, unwrap, { costBefore: perItem })],
    },
    {
      name: 'unwrapOpt',
      overloads: [member('optional_unwrapOpt', [listType(OPTIONAL)], LIST, unwrap, { costBefore: perItem })],
    },
  ],
};

/** cel-go counts one unit. */
function perItem([list]: readonly Value[]): number {
  return 1 + Math.floor(costSizeOf(list!) / 100);
}

function noneFails(value: Value | undefined): Value {
  return value === undefined ? fail('optional.none() dereference') : value;
}

function itemAt(list: readonly Value[], index: number): Optional {
  return index < 0 || index >= list.length ? Optional.NONE : new Optional(list[index]);
}

function unwrap(list: readonly Value[]): Value[] {
  return list.flatMap((item) => {
    if (!(item instanceof Optional)) return noSuchOverload();
    return item.value === undefined ? [] : [item.value];
  });
}

function isZero(value: Value): boolean {
  if (value === null || value === false) return true;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Optional) return value.value === undefined;
  const number = numericValue(value);
  return number !== undefined ? Number(number) === 0 : sizeOf(value) === 0;
}

/** `x.optMap(v, f)` is `x.hasValue() ? optional.of(f with v = x.value()) : optional.none()`; optFlatMap without `of`. */
function optionalMap(call: MacroCall, name: 'optMap' | 'optFlatMap'): Expression {
  const [variable, transform] = call.args as [Expression, Expression];
  if (variable.kind !== 'identifier')
    return call.error(`${name}() variable name must be a simple identifier`, variable);
  const make = builder(call);
  const target = call.target!;
  const bound = make.fold({
    range: make.list(),
    variable: '#unused',
    variable2: undefined,
    accumulator: variable.name,
    initial: make.memberCall(target, 'value'),
    condition: make.literal(false),
    step: make.identifier(variable.name),
    result: transform,
  });
  const optional = make.identifier('optional');
  const some = name === 'optMap' ? make.memberCall(optional, 'of', bound) : bound;
  const none = make.memberCall(optional, 'none');
  return make.call('_?_:_', make.memberCall(target, 'hasValue'), some, none);
}
