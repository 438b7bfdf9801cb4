/** Comprehensions with two variables: the index and item of a list, or the key and value of a map. */
import type { Library, MacroCall } from '../library.ts';
import { builder, simpleName } from '../syntax/build.ts';
import type { Expression } from '../syntax/expression.ts';
import { mapType, typeParameter } from '../types/type.ts';
import { type JsonObject, type MapValue, mapGet, mapKeys, mapSize } from '../values/map.ts';
import type { Value } from '../values/value.ts';
import { plain } from './declare.ts';
import { existsOneFold, listFold, quantifierFold } from './macros.ts';

type Names = readonly [string, string];
type Fold = (call: MacroCall, names: Names) => Expression;

const K = typeParameter('K');
const V = typeParameter('V');
const MAP = mapType(K, V);

export const TWO_VARIABLE_LIBRARY: Library = {
  name: 'two-variable comprehensions',
  macros: [
    macro('all', 3, (call, names) => quantifierFold(call, names, call.args[2]!, true)),
    macro('exists', 3, (call, names) => quantifierFold(call, names, call.args[2]!, false)),
    macro('existsOne', 3, (call, names) => existsOneFold(call, names, call.args[2]!)),
    macro('exists_one', 3, (call, names) => existsOneFold(call, names, call.args[2]!)),
    macro('transformList', 3, (call, names) => listFold(call, names, undefined, call.args[2]!)),
    macro('transformList', 4, (call, names) => listFold(call, names, call.args[2]!, call.args[3]!)),
    macro('transformMap', 3, (call, names) => mapFold(call, names, undefined, transformed(call, names, 2))),
    macro('transformMap', 4, (call, names) => mapFold(call, names, call.args[2]!, transformed(call, names, 3))),
    macro('transformMapEntry', 3, (call, names) => mapFold(call, names, undefined, [call.args[2]!])),
    macro('transformMapEntry', 4, (call, names) => mapFold(call, names, call.args[2]!, [call.args[3]!])),
  ],
  functions: [
    {
      name: 'cel.@mapInsert',
      overloads: [
        plain('@mapInsert_map_key_value', [MAP, K, V], MAP, (map: MapValue, key: Value, value: Value) => {
          map.insert(key, value);
          return map;
        }),
        plain('@mapInsert_map_map', [MAP, MAP], MAP, insertAll, {
          costBefore: ([, entries]) => 1 + Math.floor(mapSize(entries as MapValue | JsonObject) / 100),
        }),
      ],
    },
  ],
};

/** The accumulator is a map that only the fold can see, so that it can be changed in place. */
function insertAll(map: MapValue, entries: MapValue | JsonObject): MapValue {
  for (const key of mapKeys(entries)) map.insert(key, mapGet(entries, key)!);
  return map;
}

function macro(name: string, arity: number, fold: Fold) {
  return {
    name,
    member: true,
    arity,
    expand: (call: MacroCall) => {
      const first = simpleName(call.args[0]!, call);
      if (typeof first !== 'string') return first;
      const second = simpleName(call.args[1]!, call);
      if (typeof second !== 'string') return second;
      if (first === second) return call.error(`duplicate variable name: ${first}`, call.args[1]!);
      return fold(call, [first, second]);
    },
  };
}

/** The key stays, and the value is the argument. */
function transformed(call: MacroCall, [key]: Names, value: number): Expression[] {
  return [builder(call).identifier(key), call.args[value]!];
}

function mapFold(
  call: MacroCall,
  [variable, variable2]: Names,
  filter: Expression | undefined,
  entry: readonly Expression[],
): Expression {
  const make = builder(call);
  const insert = make.call('cel.@mapInsert', make.accumulator(), ...entry);
  return make.fold({
    range: call.target!,
    variable,
    variable2,
    initial: make.emptyMap(),
    condition: make.literal(true),
    step: filter === undefined ? insert : make.call('_?_:_', filter, insert, make.accumulator()),
    result: make.accumulator(),
  });
}
