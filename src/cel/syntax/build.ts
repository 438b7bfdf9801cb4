/** Makes expressions for macros. */
import type { MacroCall } from '../library.ts';
import type { Value } from '../values/value.ts';
import { ACCUMULATOR, type Comprehension, type Expression } from './expression.ts';

/** Makes expressions at one position. */
export interface Builder {
  literal(value: Value): Expression;
  identifier(name: string): Expression;
  call(name: string, ...args: Expression[]): Expression;
  memberCall(target: Expression, name: string, ...args: Expression[]): Expression;
  list(...items: Expression[]): Expression;
  emptyMap(): Expression;
  accumulator(): Expression;
  fold(parts: Omit<Comprehension, 'kind' | 'position' | 'accumulator'> & { readonly accumulator?: string }): Expression;
}

export function builder({ position }: Pick<MacroCall, 'position'>): Builder {
  return {
    literal: (value) => ({ kind: 'literal', position, value }),
    identifier: (name) => ({ kind: 'identifier', position, name }),
    call: (name, ...args) => ({ kind: 'call', position, function: name, target: undefined, args }),
    memberCall: (target, name, ...args) => ({ kind: 'call', position, function: name, target, args }),
    list: (...items) => ({ kind: 'list', position, items: items.map((value) => ({ value, optional: false })) }),
    emptyMap: () => ({ kind: 'map', position, entries: [] }),
    accumulator: () => ({ kind: 'identifier', position, name: ACCUMULATOR }),
    fold: (parts) => ({ kind: 'comprehension', position, accumulator: ACCUMULATOR, ...parts }),
  };
}

/** Returns the name of an iteration variable, which the argument has to be; otherwise the error in it. */
export function simpleName(
  argument: Expression,
  call: MacroCall,
  message = 'argument must be a simple name',
): string | Expression {
  if (argument.kind !== 'identifier' || argument.name.startsWith('.')) return call.error(message, argument);
  if (argument.name === ACCUMULATOR || argument.name === '__result__') {
    return call.error('iteration variable overwrites accumulator variable', argument);
  }
  return argument.name;
}
