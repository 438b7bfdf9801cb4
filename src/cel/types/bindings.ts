/** Binds the type parameters of an expression: unification, as cel-go's checker does it. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import { DYN, isDynamic, sameType, Type } from './type.ts';

/** A type made of more types is treated as dyn: those of `x.map(a, {a: a}).map(b, {b: b})…` double with each call. */
const MAX_TYPE_WEIGHT = 1_000;

export class Bindings {
  readonly #bound = new Map<string, Type>();
  /** Bindings to restore when an attempt fails. */
  readonly #trail: { readonly name: string; readonly previous: Type | undefined }[] = [];
  #fresh = 0;

  /** A new type parameter that stands for nothing yet. */
  fresh(): Type {
    return new Type('parameter', `_var${this.#fresh++}`);
  }

  /** Replaces the type parameters of a function's declaration by new ones. */
  instantiate(types: readonly Type[]): Type[] {
    const renamed = new Map<string, Type>();
    return types.map((type) =>
      rewrite(type, (parameter) => {
        return getOrInsert(renamed, parameter.name, () => this.fresh());
      }),
    );
  }

  /** Reports whether values of the first types can be used for the second ones. Binds nothing when they cannot. */
  assignAll(from: readonly Type[], to: readonly Type[]): boolean {
    if (from.length !== to.length) return false;
    const mark = this.#trail.length;
    const fits = from.every((type, i) => this.#assign(type, to[i]!));
    while (!fits && this.#trail.length > mark) {
      const { name, previous } = this.#trail.pop()!;
      if (previous === undefined) this.#bound.delete(name);
      else this.#bound.set(name, previous);
    }
    if (fits) this.#trail.length = 0;
    return fits;
  }

  assign(from: Type, to: Type): boolean {
    return this.assignAll([from], [to]);
  }

  /** Replaces the parameters of a type with their bindings; unbound ones remain. */
  resolve(type: Type): Type {
    return this.#resolve(type, (parameter) => parameter, new Map());
  }

  /** Works like `resolve`, with dyn for unbound parameters. */
  resolveFully(type: Type): Type {
    return this.#resolve(type, () => DYN, new Map());
  }

  #resolve(type: Type, unbound: (parameter: Type) => Type, known: Map<string, Type>): Type {
    return rewrite(type, (parameter) => {
      return getOrInsert(known, parameter.name, () => {
        const bound = this.#bound.get(parameter.name);
        return bound === undefined ? unbound(parameter) : this.#resolve(bound, unbound, known);
      });
    });
  }

  #bind(parameter: Type, to: Type): void {
    this.#trail.push({ name: parameter.name, previous: this.#bound.get(parameter.name) });
    this.#bound.set(parameter.name, to);
  }

  #assign(from: Type, to: Type): boolean {
    if (to.kind === 'parameter') {
      const known = this.#bound.has(to.name);
      if (this.#substitutes(from, to)) return true;
      if (known) return false;
    }
    if (from.kind === 'parameter') return this.#substitutes(to, from);
    if (isDynamic(from) || isDynamic(to)) return true;
    if (from.kind === 'null') return isNullable(to);
    if (to.kind === 'null') return isNullable(from);
    if (from.kind !== to.kind) return false;
    switch (from.kind) {
      case 'type':
        return true;
      case 'opaque':
      case 'list':
      case 'map':
        return (
          from.name === to.name &&
          from.parameters.length === to.parameters.length &&
          from.parameters.every((parameter, i) => this.#assign(parameter, to.parameters[i]!))
        );
      default:
        return from.name === to.name;
    }
  }

  /** Reports whether the parameter can stand for the type, or does already. */
  #substitutes(type: Type, parameter: Type): boolean {
    if (sameType(type, parameter)) return true;
    const bound = this.#bound.get(parameter.name);
    if (bound === undefined) {
      if (this.#occurs(parameter, type)) return false;
      this.#bind(parameter, type);
      return true;
    }
    if (sameType(type, bound)) return true;
    if (!this.#assign(type, bound)) return false;
    const general = mostGeneral(type, bound);
    if (!this.#occurs(parameter, general)) this.#bind(parameter, general);
    return true;
  }

  #occurs(parameter: Type, within: Type, seen = new Set<string>()): boolean {
    if (within.kind === 'parameter') {
      if (within.name === parameter.name) return true;
      if (seen.has(within.name)) return false;
      seen.add(within.name);
      const bound = this.#bound.get(within.name);
      return bound !== undefined && this.#occurs(parameter, bound, seen);
    }
    return within.parameters.some((part) => this.#occurs(parameter, part, seen));
  }
}

function rewrite(type: Type, replace: (parameter: Type) => Type): Type {
  if (type.kind === 'parameter') return replace(type);
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => rewrite(parameter, replace));
  if (parameters.every((parameter, i) => parameter === type.parameters[i])) return limited(type);
  return limited(new Type(type.kind, type.name, parameters, type));
}

/** The type itself, or dyn where it is too large to work with. */
export function limited(type: Type): Type {
  return type.weight > MAX_TYPE_WEIGHT ? DYN : type;
}

function isNullable(type: Type): boolean {
  return ['null', 'opaque', 'object', 'duration', 'timestamp'].includes(type.kind);
}

/** The less specific of two types that fit each other. */
export function mostGeneral(a: Type, b: Type): Type {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (a.kind === 'dyn' || a.kind === 'parameter') return true;
  if (b.kind === 'dyn' || b.kind === 'parameter' || a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, i) => isEqualOrLessSpecific(parameter, b.parameters[i]!));
}
