/** Turns a checked expression into closures, once; evaluation then only calls them. Costs are those of cel-go at run time. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { Checked } from '../check/checker.ts';
import { LIST_COST, MAP_COST, OBJECT_COST, SELECT_COST } from '../cost/constants.ts';
import type { Call, Expression, ListLiteral, MapLiteral, ObjectLiteral, Select } from '../syntax/expression.ts';
import { Failure, fail, noSuchOverload } from '../values/failure.ts';
import { MapValue } from '../values/map.ts';
import { ObjectValue, Optional, type Value } from '../values/value.ts';
import { compileCall } from './calls.ts';
import { coercionTo } from './coercion.ts';
import type { Compiler } from './compiler.ts';
import { compileComprehension } from './comprehension.ts';
import { isConstant } from './constants.ts';
import { element, fieldOrNone, optionalElement, optionalField } from './fields.ts';
import { charge, type Evaluator, type Frame } from './frame.ts';

export interface Compiled {
  readonly evaluate: Evaluator;
  /** Number of local variables in a frame. */
  readonly slots: number;
}

export function compileExpression(checked: Checked): Compiled {
  const compiler = new ClosureCompiler(checked);
  return { evaluate: compiler.compile(checked.expression), slots: compiler.slots };
}

class ClosureCompiler implements Compiler {
  slots = 0;
  readonly #known = new Map<Expression, Evaluator>();
  /** The slots of local variables, the innermost last. */
  readonly #scope: { readonly name: string; readonly slot: number }[] = [];

  constructor(readonly checked: Checked) {}

  declare(name: string): number {
    const slot = this.slots++;
    this.#scope.push({ name, slot });
    return slot;
  }

  leave(variables: number): void {
    this.#scope.length -= variables;
  }

  /** Expressions that macros use twice are compiled once. */
  compile(expression: Expression): Evaluator {
    return getOrInsert(this.#known, expression, () => this.#compile(expression, SELECT_COST));
  }

  /** A branch of `?:`, or a key: cel-go does not charge for reading their variable. */
  compileBranch(expression: Expression): Evaluator {
    return this.#compile(expression, 0);
  }

  /** The costs of reading a variable apply to the root of a chain of selections. */
  #compile(expression: Expression, rootCost: number): Evaluator {
    if (isConstant(expression)) return this.#constant(expression);
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression;
        return () => value;
      }
      case 'identifier':
        return this.#reference(expression, rootCost)!;
      case 'select':
        return this.#reference(expression, rootCost) ?? this.#select(expression, rootCost);
      case 'call':
        return this.#call(expression, rootCost);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'object':
        return this.#object(expression);
      case 'comprehension':
        return compileComprehension(expression, this);
      case 'mistake':
        throw new Error('an expression with mistakes is not compiled');
    }
  }

  /** Lists and maps of literals are built once, and cost nothing. */
  #constant(expression: Expression): Evaluator {
    const build = (part: Expression): Value => {
      if (part.kind === 'list') return part.items.map(({ value }) => build(value));
      if (part.kind === 'map') {
        const map = new MapValue();
        for (const { key, value } of part.entries) map.insert(build(key), build(value));
        return map;
      }
      return (part as Expression & { kind: 'literal' }).value;
    };
    try {
      const value = build(expression);
      return () => value;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return () => {
        throw error;
      };
    }
  }

  #reference(expression: Expression, cost: number): Evaluator | undefined {
    const reference = this.checked.referenceOf(expression);
    switch (reference?.kind) {
      case undefined:
        return undefined;
      case 'type': {
        const { type } = reference;
        return () => type;
      }
      case 'variable': {
        const { name } = reference;
        const coerce = coercionTo(this.checked.typeOf(expression));
        return (frame) => {
          charge(frame, cost);
          const value = frame.variables[name];
          if (value === undefined) return fail(`no such attribute(s): ${name}`);
          return coerce === undefined ? value : coerce(value, frame);
        };
      }
      case 'local': {
        const { slot } = this.#scope.findLast(({ name }) => name === reference.name)!;
        return (frame) => {
          charge(frame, cost);
          const value = frame.locals[slot];
          if (value instanceof Failure) throw value;
          return value as Value;
        };
      }
    }
  }

  /** The operand of a selection, which costs one more when it is neither a variable nor a selection itself. */
  #operand(expression: Expression, rootCost: number): { readonly evaluate: Evaluator; readonly cost: number } {
    const isAttribute =
      expression.kind === 'identifier' ||
      (expression.kind === 'select' && !expression.test) ||
      (expression.kind === 'call' && ['_[_]', '_[?_]', '_?._', '_?_:_'].includes(expression.function));
    return isAttribute
      ? { evaluate: this.#compile(expression, rootCost), cost: SELECT_COST }
      : { evaluate: this.compile(expression), cost: SELECT_COST + rootCost };
  }

  #propertyOf(operand: Expression, field: string): string {
    const type = this.checked.typeOf(operand);
    const object = type.kind === 'opaque' ? type.parameters[0] : type;
    return (object?.kind === 'object' ? object.fieldOf!(field)?.property : undefined) ?? field;
  }

  #select(select: Select, rootCost: number): Evaluator {
    const { field } = select;
    const property = this.#propertyOf(select.operand, field);
    if (select.test) {
      const { evaluate, cost } = this.#operand(select.operand, rootCost);
      // Testing for a field is free, as in Kubernetes; only reading the operand costs.
      const own = cost - SELECT_COST;
      return (frame) => {
        const operand = evaluate(frame);
        charge(frame, own);
        const found = operand instanceof Optional ? optionalField(operand, field, property) : undefined;
        return found !== undefined ? found.value !== undefined : fieldOrNone(operand, field, property) !== undefined;
      };
    }
    const { evaluate, cost } = this.#operand(select.operand, rootCost);
    const coerce = coercionTo(this.checked.typeOf(select));
    return (frame) => {
      const operand = evaluate(frame);
      charge(frame, cost);
      const value = fieldOrNone(operand, field, property);
      if (value === undefined) return fail(`no such key: ${field}`);
      return coerce === undefined ? value : coerce(value, frame);
    };
  }

  #call(call: Call, rootCost: number): Evaluator {
    switch (call.function) {
      case '_&&_':
        return logical(this.compile(call.args[0]!), this.compile(call.args[1]!), false);
      case '_||_':
        return logical(this.compile(call.args[0]!), this.compile(call.args[1]!), true);
      case '_?_:_':
        return this.#conditional(call);
      case '_[_]':
      case '_[?_]':
        return this.#index(call, rootCost);
      case '_?._': {
        const [target, name] = call.args as [Expression, Expression & { value: string }];
        const field = name.value;
        const property = this.#propertyOf(target, field);
        const { evaluate, cost } = this.#operand(target, rootCost);
        return (frame) => {
          const operand = evaluate(frame);
          charge(frame, cost);
          return optionalField(operand, field, property);
        };
      }
      case '@not_strictly_false': {
        const operand = this.compile(call.args[0]!);
        return (frame) => {
          charge(frame, 1);
          try {
            return operand(frame) !== false;
          } catch (error) {
            if (error instanceof Failure) return true;
            throw error;
          }
        };
      }
      default:
        return compileCall(call, this);
    }
  }

  #conditional(call: Call): Evaluator {
    const condition = this.compile(call.args[0]!);
    const yes = this.compileBranch(call.args[1]!);
    const no = this.compileBranch(call.args[2]!);
    return (frame) => {
      const decided = condition(frame);
      if (decided === true) return yes(frame);
      return decided === false ? no(frame) : noSuchOverload();
    };
  }

  #index(call: Call, rootCost: number): Evaluator {
    const [target, key] = call.args as [Expression, Expression];
    const { evaluate, cost } = this.#operand(target, rootCost);
    // The key qualifies the operand: cel-go does not charge for reading its variable.
    const evaluateKey = this.compileBranch(key);
    const read = call.function === '_[_]' ? element : optionalElement;
    const coerce = coercionTo(this.checked.typeOf(call));
    return (frame) => {
      const container = evaluate(frame);
      const at = evaluateKey(frame);
      charge(frame, cost);
      const value = read(container, at);
      return coerce === undefined ? value : coerce(value, frame);
    };
  }

  #list(list: ListLiteral): Evaluator {
    const items = list.items.map(({ value, optional }) => ({ evaluate: this.compile(value), optional }));
    return (frame) => {
      const values: Value[] = [];
      for (const { evaluate, optional } of items) {
        const value = evaluate(frame);
        if (!optional) values.push(value);
        else if (!(value instanceof Optional)) noSuchOverload();
        else if (value.value !== undefined) values.push(value.value);
      }
      charge(frame, LIST_COST);
      return values;
    };
  }

  #map(literal: MapLiteral): Evaluator {
    const entries = literal.entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }));
    return (frame) => {
      const map = new MapValue();
      for (const { key, value, optional } of entries) {
        const name = key(frame);
        const found = optional ? optionalValue(value, frame) : value(frame);
        if (found !== undefined) map.insert(name, found);
      }
      charge(frame, MAP_COST);
      return map;
    };
  }

  #object(literal: ObjectLiteral): Evaluator {
    const type = this.checked.typeOf(literal);
    const fields = literal.fields.map(({ field, value, optional }) => ({
      property: type.fieldOf!(field)?.property ?? field,
      value: this.compile(value),
      optional,
    }));
    return (frame) => {
      // Without a prototype: a field may be named `__proto__`.
      const values: { [property: string]: Value } = Object.create(null);
      for (const { property, value, optional } of fields) {
        const found = optional ? optionalValue(value, frame) : value(frame);
        if (found !== undefined) values[property] = found;
      }
      charge(frame, OBJECT_COST);
      return new ObjectValue(type, values);
    };
  }
}

/** Returns the value in the optional value of an entry with `?`. */
function optionalValue(evaluate: Evaluator, frame: Frame): Value | undefined {
  const value = evaluate(frame);
  return value instanceof Optional ? value.value : noSuchOverload();
}

/** `&&` and `||`: the deciding value wins over errors, on whichever side it stands. */
function logical(left: Evaluator, right: Evaluator, deciding: boolean): Evaluator {
  return (frame) => {
    let failure: Failure;
    try {
      const value = left(frame);
      if (value === deciding) return deciding;
      failure = value === !deciding ? NOT_FAILED : new Failure('no such overload');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
    if (failure === NOT_FAILED) {
      const value = right(frame);
      return typeof value === 'boolean' ? value : noSuchOverload();
    }
    try {
      if (right(frame) === deciding) return deciding;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
    throw failure;
  };
}

const NOT_FAILED = new Failure('');
