/** Estimates the minimum and maximum cost of an expression before it runs, as cel-go's checker does. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { Checked } from '../check/checker.ts';
import type { CallEstimate, CallNode, CostNode, Overload } from '../library.ts';
import type { Call, Comprehension, Expression, ListLiteral, MapLiteral, Select } from '../syntax/expression.ts';
import { ACCUMULATOR } from '../syntax/expression.ts';
import { isOptional, type Type } from '../types/type.ts';
import { sizeOf } from '../values/size.ts';
import { LIST_COST, MAP_COST, OBJECT_COST, SELECT_COST } from './constants.ts';
import {
  addRanges,
  exactly,
  MAX_COST,
  multiplyRanges,
  type Range,
  scaleRange,
  UNKNOWN_RANGE,
  uniteRanges,
} from './range.ts';

/** The size of a value by its path and type; undefined when nothing limits it. */
export type SizeLimits = (node: CostNode) => Range | undefined;

export function estimateCost(checked: Checked, limits: SizeLimits): Range {
  return new Estimator(checked, limits).cost(checked.expression);
}

/** Sizes of the keys (or indexes) and values of a map or list. */
interface EntrySizes {
  readonly container: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

const FREE = exactly(0);
const SELECT = exactly(SELECT_COST);
const ONE = exactly(1);
/** Size smaller than every other, to start a union with. */
const NO_SIZE: Range = { min: MAX_COST, max: 0 };
const NO_PATH: readonly string[] = [];

class Estimator {
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();
  /** Expressions that macros use twice are estimated once. */
  readonly #costs = new Map<Expression, Range>();

  constructor(
    private readonly checked: Checked,
    private readonly limits: SizeLimits,
  ) {}

  cost(expression: Expression): Range {
    return getOrInsert(this.#costs, expression, () => this.#cost(expression));
  }

  #cost(expression: Expression): Range {
    switch (expression.kind) {
      case 'literal':
      case 'mistake':
        return FREE;
      case 'identifier':
        this.#paths.set(expression, this.#local(expression)?.path ?? [expression.name]);
        return SELECT;
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'object':
        return expression.fields.reduce((sum, { value }) => addRanges(sum, this.cost(value)), exactly(OBJECT_COST));
      case 'comprehension':
        return isBinding(expression) ? this.#binding(expression) : this.#comprehension(expression);
    }
  }

  #local(expression: Expression): Local | undefined {
    return expression.kind === 'identifier' ? this.#locals.get(expression.name)?.at(-1) : undefined;
  }

  #push(name: string, local: Local): void {
    const known = this.#locals.get(name);
    if (known === undefined) this.#locals.set(name, [local]);
    else known.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)!.pop();
  }

  #pathOf(expression: Expression): readonly string[] {
    return this.#local(expression)?.path ?? this.#paths.get(expression) ?? NO_PATH;
  }

  #select(select: Select): Range {
    const reference = this.checked.referenceOf(select);
    if (reference !== undefined) {
      this.#paths.set(select, reference.kind === 'variable' ? [reference.name] : NO_PATH);
      return SELECT;
    }
    const operand = this.cost(select.operand);
    // As in Kubernetes, testing for a field is free.
    if (select.test) return operand;
    this.#paths.set(select, [...this.#pathOf(select.operand), select.field]);
    const { kind } = this.checked.typeOf(select.operand);
    return kind === 'map' || kind === 'object' || kind === 'parameter' ? addRanges(operand, SELECT) : operand;
  }

  #node(expression: Expression): CostNode {
    const path = this.#pathOf(expression);
    const isKnown = path.length > 0 && path[0] !== ACCUMULATOR;
    return {
      path: isKnown ? path : undefined,
      type: this.checked.typeOf(expression),
      computedSize: this.#size(expression),
      literal: expression.kind === 'literal' ? expression.value : undefined,
    };
  }

  #size(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? writtenSize(expression);
    if (known !== undefined) return known;
    const type = this.checked.typeOf(expression);
    const path = this.#pathOf(expression);
    const given = this.limits({
      path: path.length > 0 ? path : undefined,
      type,
      computedSize: undefined,
      literal: undefined,
    });
    if (given !== undefined) {
      this.#sizes.set(expression, given);
      return given;
    }
    return isScalar(type) ? ONE : this.#local(expression)?.size;
  }

  #sizeOrUnknown(expression: Expression): Range {
    return this.#size(expression) ?? UNKNOWN_RANGE;
  }

  #entrySizes(expression: Expression): EntrySizes | undefined {
    return this.#entries.get(expression) ?? this.#local(expression)?.entries;
  }

  #list(list: ListLiteral): Range {
    let cost = exactly(LIST_COST);
    let value = list.items.length === 0 ? FREE : NO_SIZE;
    for (const item of list.items) {
      cost = addRanges(cost, this.cost(item.value));
      value = uniteRanges(value, this.#sizeOrUnknown(item.value));
    }
    this.#entries.set(list, { container: 'list', key: ONE, value });
    return cost;
  }

  #map(map: MapLiteral): Range {
    let cost = exactly(MAP_COST);
    let key = map.entries.length === 0 ? FREE : NO_SIZE;
    let value = key;
    for (const entry of map.entries) {
      cost = addRanges(cost, addRanges(this.cost(entry.key), this.cost(entry.value)));
      key = uniteRanges(key, this.#sizeOrUnknown(entry.key));
      value = uniteRanges(value, this.#sizeOrUnknown(entry.value));
    }
    this.#entries.set(map, { container: 'map', key, value });
    return cost;
  }

  #call(call: Call): Range {
    if (call.function === 'dyn') {
      const [arg] = call.args as [Expression];
      const cost = addRanges(ONE, this.cost(arg));
      this.#copySizes(call, arg);
      return cost;
    }
    if (call.function === '_?._') return addRanges(this.cost(call.args[0]!), ONE);
    const argCosts = call.args.map((arg) => this.cost(arg));
    const target = this.checked.isNamespaced(call) ? undefined : call.target;
    const targetCost = target === undefined ? FREE : this.cost(target);
    const overloads = this.checked.overloadsOf(call);
    if (overloads.length === 0) return FREE;
    let cost = NO_SIZE;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = this.#overload(call, overload, target, argCosts);
      cost = uniteRanges(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : uniteRanges(size, estimate.size);
      const step = overload.id === 'index_list' ? '@items' : overload.id === 'index_map' ? '@values' : undefined;
      if (step !== undefined) {
        size = this.#entrySizes(call.args[0]!)?.value;
        this.#paths.set(call, [...this.#pathOf(call.args[0]!), step]);
      }
      size ??= this.#size(call);
    }
    if (size !== undefined) this.#sizes.set(call, size);
    return addRanges(targetCost, cost);
  }

  #overload(call: Call, overload: Overload, target: Expression | undefined, argCosts: readonly Range[]): CallEstimate {
    const special = this.#special(call, overload.id, argCosts);
    if (special !== undefined) return special;
    const estimate = overload.estimate?.(this.#callNode(call, target)) ?? { cost: ONE };
    return { ...estimate, cost: argCosts.reduce(addRanges, estimate.cost) };
  }

  #callNode(call: Call, target: Expression | undefined): CallNode {
    const sizeOfNode = (node: CostNode) => node.computedSize ?? this.limits(node) ?? UNKNOWN_RANGE;
    return {
      target: target === undefined ? undefined : this.#node(target),
      args: call.args.map((arg) => this.#node(arg)),
      sizeOf: sizeOfNode,
      elementOf: (node) => {
        const [type] = node.type.parameters;
        if (type === undefined) return undefined;
        const path = node.path === undefined ? undefined : [...node.path, '@items'];
        return { path, type, computedSize: undefined, literal: undefined };
      },
    };
  }

  /** Operators whose cost depends on more than the sizes of their arguments. */
  #special(call: Call, id: string, argCosts: readonly Range[]): CallEstimate | undefined {
    const [a, b, c] = call.args as [Expression, Expression, Expression];
    const [costA, costB, costC] = argCosts as [Range, Range, Range];
    if (id === 'logical_and' || id === 'logical_or') {
      return { cost: { min: costA.min, max: addRanges(costA, costB).max } };
    }
    if (id === 'conditional') {
      this.#uniteEntries(call, b, c);
      return {
        cost: addRanges(costA, uniteRanges(costB, costC)),
        size: uniteRanges(this.#sizeOrUnknown(b), this.#sizeOrUnknown(c)),
      };
    }
    const sum = () => addRanges(costA, costB);
    if (id === 'add_string' || id === 'add_bytes' || id === 'add_list') {
      const size = addRanges(this.#sizeOrUnknown(a), this.#sizeOrUnknown(b));
      this.#uniteEntries(call, a, b);
      return { cost: addRanges(id === 'add_list' ? ONE : scaleRange(size, 0.1), sum()), size };
    }
    if (id === 'in_list') return { cost: addRanges(this.#sizeOrUnknown(b), sum()) };
    if (/^(equals|not_equals|(less|greater)(_equals)?_(string|bytes))$/.test(id)) {
      const max = Math.min(this.#sizeOrUnknown(a).max, this.#sizeOrUnknown(b).max);
      return { cost: addRanges(scaleRange({ min: max > 0 ? 1 : 0, max }, 0.1), sum()) };
    }
    return undefined;
  }

  #uniteEntries(result: Expression, a: Expression, b: Expression): void {
    const first = this.#entrySizes(a);
    const second = this.#entrySizes(b);
    if (first === undefined || second === undefined) return;
    this.#entries.set(result, {
      container: first.container,
      key: uniteRanges(first.key, second.key),
      value: uniteRanges(first.value, second.value),
    });
  }

  #copySizes(to: Expression, from: Expression): void {
    const size = this.#size(from);
    const entries = this.#entrySizes(from);
    if (size !== undefined) this.#sizes.set(to, size);
    if (entries !== undefined) this.#entries.set(to, entries);
  }

  #localOf(expression: Expression): Local {
    return { path: this.#pathOf(expression), size: this.#size(expression), entries: this.#entrySizes(expression) };
  }

  #comprehension(fold: Comprehension): Range {
    let cost = addRanges(this.cost(fold.range), this.cost(fold.initial));
    this.#push(fold.accumulator, this.#localOf(fold.initial));
    for (const [name, local] of this.#iterationLocals(fold)) this.#push(name, local);
    const each = addRanges(this.cost(fold.condition), this.cost(fold.step));
    this.#pop(fold.variable);
    if (fold.variable2 !== undefined) this.#pop(fold.variable2);
    cost = addRanges(cost, this.cost(fold.result));
    this.#pop(fold.accumulator);
    const count = this.#sizeOrUnknown(fold.range);
    if (fold.initial.kind === 'literal') {
      const size = this.#size(fold.initial);
      if (size !== undefined) this.#sizes.set(fold, size);
    } else if (fold.initial.kind === 'list' || fold.initial.kind === 'map') {
      this.#sizes.set(fold, count);
      const entries = this.#entrySizes(fold.step);
      if (entries !== undefined) this.#entries.set(fold, entries);
    }
    return addRanges(cost, multiplyRanges(count, each));
  }

  #iterationLocals(fold: Comprehension): [string, Local][] {
    const entries = this.#entrySizes(fold.range);
    const path = this.#pathOf(fold.range);
    const isList = (entries?.container ?? this.checked.typeOf(fold.range).kind) === 'list';
    const key: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key, entries: undefined };
    const value: Local = { path: [...path, isList ? '@items' : '@values'], size: entries?.value, entries: undefined };
    if (fold.variable2 === undefined) return [[fold.variable, isList ? value : key]];
    return [
      [fold.variable, key],
      [fold.variable2, value],
    ];
  }

  /** A comprehension that only gives a value a name. */
  #binding(fold: Comprehension): Range {
    const cost = addRanges(this.cost(fold.range), this.cost(fold.initial));
    this.#push(fold.accumulator, this.#localOf(fold.initial));
    const result = this.cost(fold.result);
    this.#pop(fold.accumulator);
    this.#copySizes(fold, fold.result);
    return addRanges(cost, result);
  }
}

function isBinding({ range, condition, accumulator }: Comprehension): boolean {
  return (
    range.kind === 'list' &&
    range.items.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accumulator !== ACCUMULATOR
  );
}

/** The size of an expression that is written out. */
function writtenSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case 'literal':
      return exactly(sizeOf(expression.value) ?? 1);
    case 'list':
      return exactly(expression.items.length);
    case 'map':
      return exactly(expression.entries.length);
    default:
      return undefined;
  }
}

/** Reports whether all values of a type have one size. */
function isScalar(type: Type): boolean {
  if (isOptional(type)) return isScalar(type.parameters[0]!);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint', 'opaque'].includes(type.kind);
}
