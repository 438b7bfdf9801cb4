/** Finds the type of every part of an expression, and which functions its calls mean. Errors have the words of cel-go's checker. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { Environment } from '../environment.ts';
import type { Overload } from '../library.ts';
import type {
  Call,
  Comprehension,
  Expression,
  ListLiteral,
  MapLiteral,
  ObjectLiteral,
  Select,
} from '../syntax/expression.ts';
import type { Issue } from '../syntax/issues.ts';
import { qualifiedName } from '../syntax/parser.ts';
import { Bindings, limited, mostGeneral } from '../types/bindings.ts';
import {
  BOOL,
  DYN,
  ERROR,
  INT,
  isDynamic,
  isOptional,
  listType,
  mapType,
  optionalType,
  sameType,
  type Type,
  typeType,
} from '../types/type.ts';
import { typeOf } from '../values/type-of.ts';

/** Meaning of an identifier, or of a chain of names. */
type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'type'; readonly type: Type };

/** Result of the checker. Expressions that macros use twice are one object, and are checked once. */
export interface Checked {
  readonly expression: Expression;
  typeOf(expression: Expression): Type;
  referenceOf(expression: Expression): Reference | undefined;
  /** The overloads that a call may mean: several, when the types of its arguments are not known. */
  overloadsOf(call: Call): readonly Overload[];
  /** Reports whether a call's target is part of the function's name: `optional.of(x)`. */
  isNamespaced(call: Call): boolean;
  /** The variables of the environment that the expression mentions. */
  readonly variables: ReadonlySet<string>;
}

export function check(
  expression: Expression,
  environment: Environment,
): { readonly checked: Checked; readonly issues: readonly Issue[] } {
  const checker = new Checker(environment);
  checker.check(expression);
  return { checked: checker.result(expression), issues: checker.issues };
}

class Checker {
  readonly issues: Issue[] = [];
  readonly #bindings = new Bindings();
  readonly #types = new Map<Expression, Type>();
  readonly #references = new Map<Expression, Reference>();
  readonly #overloads = new Map<Call, readonly Overload[]>();
  readonly #namespaced = new Set<Call>();
  readonly #variables = new Set<string>();
  /** Variables of comprehensions, the innermost last. */
  readonly #locals: { readonly name: string; readonly type: Type }[] = [];

  constructor(private readonly environment: Environment) {}

  result(expression: Expression): Checked {
    const resolved = new Map<Expression, Type>();
    return {
      expression,
      typeOf: (part) => {
        return getOrInsert(resolved, part, () => this.#bindings.resolveFully(this.#types.get(part) ?? ERROR));
      },
      referenceOf: (part) => this.#references.get(part),
      overloadsOf: (call) => this.#overloads.get(call) ?? [],
      isNamespaced: (call) => this.#namespaced.has(call),
      variables: this.#variables,
    };
  }

  check(expression: Expression): Type {
    return getOrInsert(this.#types, expression, () => limited(this.#typeOf(expression)));
  }

  #typeOf(expression: Expression): Type {
    switch (expression.kind) {
      case 'literal':
        return typeOf(expression.value);
      case 'identifier':
        return this.#identifier(expression);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'object':
        return this.#object(expression);
      case 'comprehension':
        return this.#comprehension(expression);
      case 'mistake':
        return ERROR;
    }
  }

  #report(at: { readonly position: number }, message: string): Type {
    this.issues.push({ position: at.position, message });
    return ERROR;
  }

  #undeclared(at: Expression, name: string): Type {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(at: { readonly position: number }, expected: Type, found: Type): Type {
    const shown = this.#bindings.resolveFully(found);
    return this.#report(at, `expected type '${this.#bindings.resolveFully(expected)}' but found '${shown}'`);
  }

  /** Returns the type of a name; undefined when nothing has it. */
  #lookup(at: Expression, name: string): Type | undefined {
    const global = name.startsWith('.') ? name.slice(1) : name;
    const local = global === name ? this.#locals.findLast((variable) => variable.name === name) : undefined;
    if (local !== undefined) {
      this.#references.set(at, { kind: 'local', name });
      return local.type;
    }
    const variable = this.environment.variable(global);
    if (variable !== undefined) {
      this.#variables.add(global);
      this.#references.set(at, { kind: 'variable', name: global });
      return variable;
    }
    const type = this.environment.type(global);
    if (type === undefined) return undefined;
    this.#references.set(at, { kind: 'type', type });
    return typeType(type);
  }

  #identifier(expression: Expression & { kind: 'identifier' }): Type {
    return this.#lookup(expression, expression.name) ?? this.#undeclared(expression, expression.name);
  }

  #select(expression: Select): Type {
    const name = expression.test ? undefined : qualifiedName(expression);
    if (name !== undefined && !this.#startsWithLocal(name)) {
      const found = this.#lookup(expression, name);
      if (found !== undefined) return found;
    }
    const type = this.#field(expression, expression.operand, expression.field);
    return expression.test ? BOOL : type;
  }

  #startsWithLocal(name: string): boolean {
    const first = name.slice(0, name.indexOf('.'));
    return this.#locals.some((local) => local.name === first);
  }

  /** The type of a field of an operand; optional when the operand is. */
  #field(at: Expression, operand: Expression, field: string): Type {
    const type = this.#bindings.resolve(this.check(operand));
    if (isOptional(type)) return optionalType(this.#fieldOf(at, type.parameters[0]!, field));
    return this.#fieldOf(at, type, field);
  }

  #fieldOf(at: Expression, type: Type, field: string): Type {
    switch (type.kind) {
      case 'map':
        return type.parameters[1]!;
      case 'object':
        return type.fieldOf!(field)?.type ?? this.#report(at, `undefined field '${field}'`);
      case 'parameter':
        this.#bindings.assign(DYN, type);
        return DYN;
      default:
        if (!isDynamic(type)) this.#report(at, `type '${type}' does not support field selection`);
        return DYN;
    }
  }

  #call(call: Call): Type {
    if (call.function === '_?._') {
      const [operand, field] = call.args as [Expression, Expression & { value: string }];
      this.check(field);
      this.#overloads.set(call, this.environment.overloadsOf('_?._') ?? []);
      if (this.environment.overloadsOf('_?._') === undefined) return this.#undeclared(call, '_?._');
      const type = this.#field(call, operand, field.value);
      return isOptional(type) ? type : optionalType(type);
    }
    for (const arg of call.args) this.check(arg);
    const { target } = call;
    if (target === undefined) {
      const name = call.function.startsWith('.') ? call.function.slice(1) : call.function;
      return this.#resolveCall(call, name, call.args, false);
    }
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix}.${call.function}`.replace(/^\./, '');
    if (qualified !== undefined && this.environment.overloadsOf(qualified) !== undefined) {
      this.#namespaced.add(call);
      return this.#resolveCall(call, qualified, call.args, false);
    }
    this.check(target);
    return this.#resolveCall(call, call.function, [target, ...call.args], true);
  }

  #resolveCall(call: Call, name: string, args: readonly Expression[], member: boolean): Type {
    const declared = this.environment.overloadsOf(name);
    if (declared === undefined) return this.#undeclared(call, name);
    const argTypes = args.map((arg) => this.check(arg));
    if (name === '_&&_' || name === '_||_') return this.#logical(call, declared, args, argTypes);
    const matching: Overload[] = [];
    let result: Type | undefined;
    for (const overload of declared) {
      if ((overload.member ?? false) !== member) continue;
      const [fresh, ...parameters] = this.#bindings.instantiate([overload.result, ...overload.parameters]);
      if (!this.#bindings.assignAll(argTypes, parameters)) continue;
      matching.push(overload);
      const type = this.#bindings.resolve(fresh!);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && !sameType(result, type)) result = DYN;
    }
    this.#overloads.set(call, matching);
    if (name === '_+_' && argTypes[0]?.operators?.add && result?.kind === 'list') return argTypes[0];
    if (result !== undefined) return result;
    if (argTypes.some(({ kind }) => kind === 'error')) return ERROR;
    const shown = argTypes.map((type) => this.#bindings.resolveFully(type));
    const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.#report(call, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #logical(call: Call, declared: readonly Overload[], args: readonly Expression[], argTypes: readonly Type[]): Type {
    this.#overloads.set(call, declared);
    const wrong = argTypes.flatMap((type, i) => (this.#bindings.assign(type, BOOL) ? [] : [i]));
    for (const i of wrong) this.#mismatch(args[i]!, BOOL, argTypes[i]!);
    return wrong.length === 0 ? BOOL : ERROR;
  }

  #list(list: ListLiteral): Type {
    let element: Type | undefined;
    for (const { value, optional } of list.items) {
      const type = optional ? this.#unwrapped(value, this.check(value)) : this.check(value);
      element = this.#join(value, element, type);
    }
    return listType(element ?? this.#bindings.fresh());
  }

  #map(map: MapLiteral): Type {
    let keyType: Type | undefined;
    let valueType: Type | undefined;
    for (const { key, value, optional } of map.entries) {
      keyType = this.#join(key, keyType, this.check(key));
      const type = optional ? this.#unwrapped(value, this.check(value)) : this.check(value);
      valueType = this.#join(value, valueType, type);
    }
    return mapType(keyType ?? this.#bindings.fresh(), valueType ?? this.#bindings.fresh());
  }

  /** The type inside of an optional one, which an entry with `?` has to have. */
  #unwrapped(at: Expression, type: Type): Type {
    const resolved = this.#bindings.resolve(type);
    if (isOptional(resolved)) return resolved.parameters[0]!;
    if (!isDynamic(resolved)) this.#mismatch(at, optionalType(resolved), resolved);
    return resolved;
  }

  #join(at: Expression, previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    if (this.#bindings.assign(previous, current)) return mostGeneral(previous, current);
    if (this.environment.homogeneousLiterals) return this.#mismatch(at, previous, current);
    return DYN;
  }

  #object(object: ObjectLiteral): Type {
    const name = object.typeName.replace(/^\./, '');
    const type = this.environment.type(name);
    if (type === undefined) return this.#undeclared(object, object.typeName);
    if (type.kind !== 'object') return this.#report(object, `'${name}' is not a message type`);
    for (const field of object.fields) {
      const declared = type.fieldOf!(field.field)?.type ?? this.#report(field, `undefined field '${field.field}'`);
      const given = this.check(field.value);
      const found = field.optional ? this.#unwrapped(field.value, given) : given;
      if (!this.#bindings.assign(found, declared)) {
        const shown = this.#bindings.resolveFully(found);
        this.#report(field, `expected type of field '${field.field}' is '${declared}' but provided type is '${shown}'`);
      }
    }
    return type;
  }

  #comprehension(fold: Comprehension): Type {
    const range = this.#bindings.resolve(this.check(fold.range));
    const accumulator = this.check(fold.initial);
    const [first, second] = this.#iterationTypes(fold, range);
    this.#locals.push({ name: fold.accumulator, type: accumulator });
    this.#locals.push({ name: fold.variable, type: fold.variable2 === undefined ? second : first });
    if (fold.variable2 !== undefined) this.#locals.push({ name: fold.variable2, type: second });
    this.#expect(fold.condition, BOOL);
    this.#expect(fold.step, accumulator);
    this.#locals.length -= fold.variable2 === undefined ? 1 : 2;
    const result = this.check(fold.result);
    this.#locals.length -= 1;
    return this.#bindings.resolve(result);
  }

  /** Types of the index or key, and of the item or value; a comprehension with one variable takes the second. */
  #iterationTypes(fold: Comprehension, range: Type): [Type, Type] {
    switch (range.kind) {
      case 'list':
        return [INT, range.parameters[0]!];
      case 'map':
        return fold.variable2 === undefined
          ? [range.parameters[0]!, range.parameters[0]!]
          : [range.parameters[0]!, range.parameters[1]!];
      case 'dyn':
      case 'error':
        return [DYN, DYN];
      case 'parameter':
        this.#bindings.assign(DYN, range);
        return [DYN, DYN];
      default: {
        const message = `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#report(fold.range, message);
        return [ERROR, ERROR];
      }
    }
  }

  #expect(expression: Expression, expected: Type): void {
    const found = this.check(expression);
    if (!this.#bindings.assign(found, expected)) this.#mismatch(expression, expected, found);
  }
}
