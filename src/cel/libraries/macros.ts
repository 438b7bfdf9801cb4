/** The macros of the language itself: `has` and the comprehensions with one variable. */
import type { Macro, MacroCall } from '../library.ts';
import { builder, simpleName } from '../syntax/build.ts';
import type { Expression } from '../syntax/expression.ts';

export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', member: false, arity: 1, expand: has },
  { name: 'all', member: true, arity: 2, expand: (call) => quantifier(call, true) },
  { name: 'exists', member: true, arity: 2, expand: (call) => quantifier(call, false) },
  { name: 'exists_one', member: true, arity: 2, expand: existsOne },
  { name: 'existsOne', member: true, arity: 2, expand: existsOne },
  { name: 'map', member: true, arity: 2, expand: (call) => transform(call, undefined, call.args[1]!) },
  { name: 'map', member: true, arity: 3, expand: (call) => transform(call, call.args[1]!, call.args[2]!) },
  { name: 'filter', member: true, arity: 2, expand: (call) => transform(call, call.args[1]!, call.args[0]!) },
];

function has(call: MacroCall): Expression {
  const [argument] = call.args as [Expression];
  if (argument.kind !== 'select' || argument.test) return call.error('invalid argument to has() macro', argument);
  return { ...argument, position: call.position, test: true };
}

function quantifier(call: MacroCall, all: boolean): Expression {
  const variable = simpleName(call.args[0]!, call);
  return typeof variable === 'string' ? quantifierFold(call, [variable], call.args[1]!, all) : variable;
}

/** `all` or `exists`, with one variable or two. */
export function quantifierFold(
  call: MacroCall,
  [variable, variable2]: readonly [string, string?],
  predicate: Expression,
  all: boolean,
): Expression {
  const make = builder(call);
  const undecided = all ? make.accumulator() : make.call('!_', make.accumulator());
  return make.fold({
    range: call.target!,
    variable,
    variable2,
    initial: make.literal(all),
    condition: make.call('@not_strictly_false', undecided),
    step: make.call(all ? '_&&_' : '_||_', make.accumulator(), predicate),
    result: make.accumulator(),
  });
}

function existsOne(call: MacroCall): Expression {
  const variable = simpleName(call.args[0]!, call);
  return typeof variable === 'string' ? existsOneFold(call, [variable], call.args[1]!) : variable;
}

export function existsOneFold(
  call: MacroCall,
  [variable, variable2]: readonly [string, string?],
  predicate: Expression,
): Expression {
  const make = builder(call);
  const more = make.call('_+_', make.accumulator(), make.literal(1));
  return make.fold({
    range: call.target!,
    variable,
    variable2,
    initial: make.literal(0),
    condition: make.literal(true),
    step: make.call('_?_:_', predicate, more, make.accumulator()),
    result: make.call('_==_', make.accumulator(), make.literal(1)),
  });
}

function transform(call: MacroCall, filter: Expression | undefined, item: Expression): Expression {
  const variable = simpleName(call.args[0]!, call, 'argument is not an identifier');
  return typeof variable === 'string' ? listFold(call, [variable], filter, item) : variable;
}

/** Appends an item for each element that passes the filter. */
export function listFold(
  call: MacroCall,
  [variable, variable2]: readonly [string, string?],
  filter: Expression | undefined,
  item: Expression,
): Expression {
  const make = builder(call);
  const append = make.call('_+_', make.accumulator(), make.list(item));
  return make.fold({
    range: call.target!,
    variable,
    variable2,
    initial: make.list(),
    condition: make.literal(true),
    step: filter === undefined ? append : make.call('_?_:_', filter, append, make.accumulator()),
    result: make.accumulator(),
  });
}
