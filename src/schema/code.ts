/**
 * Generates a function from source lines and constants. decode.ts and validate.ts generate one for each schema on first
 * use: plain field accesses are several times faster than a walk that looks up every field in the schema.
 *
 * A schema can come from a client, so no part of it becomes source text: names and enum values go through `quote`,
 * everything else is passed as a constant.
 */
export class Code {
  readonly #lines: string[] = [];
  readonly #constants: unknown[] = [];

  add(...lines: string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  /** The name by which the generated code refers to a value. */
  constant(value: unknown): string {
    let at = this.#constants.indexOf(value);
    if (at < 0) at = this.#constants.push(value) - 1;
    return `c${at}`;
  }

  /** Compiles a function. Each function has its own type feedback in V8 and is optimised for its own inputs. */
  compile<F>(parameters: string, form: 'function' | 'generator' = 'function'): F {
    const names = this.#constants.map((_, at) => `c${at}`).join(', ');
    const head = form === 'generator' ? `function* (${parameters})` : `(${parameters}) =>`;
    const body = `'use strict'; const [${names}] = constants; return ${head} {\n${this.#lines.join('\n')}\n};`;
    return new Function('constants', body)(this.#constants) as F;
  }
}

/** A string literal. */
export const quote = (text: string): string => JSON.stringify(text);

/** An expression for a field of an object. */
export const field = (object: string, name: string): string => `${object}[${quote(name)}]`;

/** An expression for the value of a field. Names on `Object.prototype` are read only as own properties. */
export const read = (object: string, name: string): string =>
  name in Object.prototype
    ? `(Object.hasOwn(${object}, ${quote(name)}) ? ${field(object, name)} : undefined)`
    : field(object, name);
