/** Everything that an expression can use: the variables, functions, macros and types that it is compiled with. */
import { getOrInsert } from '../base/collections/get-or-insert.ts';
import type { FunctionDeclaration, Library, Macro, Overload } from './library.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  LIST_OF_DYN,
  MAP_OF_DYN,
  NULL,
  optionalType,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  UINT,
} from './types/type.ts';

export interface EnvironmentOptions {
  readonly libraries?: readonly Library[];
  readonly variables?: Readonly<Record<string, Type>>;
  /** Finds types by name that no library has, such as those of a schema: `Object.spec`. */
  readonly typeOf?: (name: string) => Type | undefined;
  /** True when lists and maps with elements of several types are errors, as in Kubernetes. */
  readonly homogeneousLiterals?: boolean;
}

const STANDARD_TYPES = [
  ...[BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TYPE, TIMESTAMP, DURATION],
  ...[LIST_OF_DYN, MAP_OF_DYN, optionalType(DYN)],
];

export class Environment {
  readonly homogeneousLiterals: boolean;
  readonly #functions = new Map<string, Overload[]>();
  readonly #macros = new Map<string, Macro>();
  readonly #variables = new Map<string, Type>();
  readonly #types = new Map<string, Type>(STANDARD_TYPES.map((type) => [type.name, type]));
  readonly #typeOf: ((name: string) => Type | undefined)[] = [];

  constructor(options: EnvironmentOptions, parent?: Environment) {
    this.homogeneousLiterals = options.homogeneousLiterals ?? parent?.homogeneousLiterals ?? false;
    if (parent !== undefined) {
      // Overloads are added to copies: the parent stays as it is.
      for (const [name, overloads] of parent.#functions) this.#functions.set(name, [...overloads]);
      for (const [key, macro] of parent.#macros) this.#macros.set(key, macro);
      for (const [name, type] of parent.#variables) this.#variables.set(name, type);
      for (const [name, type] of parent.#types) this.#types.set(name, type);
      this.#typeOf.push(...parent.#typeOf);
    }
    for (const library of options.libraries ?? []) this.#add(library);
    for (const [name, type] of Object.entries(options.variables ?? {})) this.#variables.set(name, type);
    if (options.typeOf !== undefined) this.#typeOf.push(options.typeOf);
  }

  /** Returns this environment with additions. A variable replaces one of the same name. */
  extend(options: EnvironmentOptions): Environment {
    return new Environment(options, this);
  }

  overloadsOf(name: string): readonly Overload[] | undefined {
    return this.#functions.get(name);
  }

  macro(name: string, member: boolean, arity: number): Macro | undefined {
    return this.#macros.get(macroKey(name, member, arity));
  }

  variable(name: string): Type | undefined {
    return this.#variables.get(name);
  }

  type(name: string): Type | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    for (const typeOf of this.#typeOf) {
      const found = typeOf(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #add(library: Library): void {
    for (const declaration of library.functions ?? []) this.#addFunction(declaration);
    for (const macro of library.macros ?? []) this.#macros.set(macroKey(macro.name, macro.member, macro.arity), macro);
    for (const type of library.types ?? []) this.#types.set(type.name, type);
  }

  #addFunction({ name, overloads }: FunctionDeclaration): void {
    const known = getOrInsert(this.#functions, name, () => []);
    for (const overload of overloads) {
      const same = known.findIndex(({ id }) => id === overload.id);
      if (same === -1) known.push(overload);
      else known[same] = overload;
    }
  }
}

function macroKey(name: string, member: boolean, arity: number): string {
  return `${name}:${arity}:${member}`;
}
