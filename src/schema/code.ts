/**
 * A function that is written at run time: for one description, so that the processor sees plain field accesses where a
 * walk over the description would look up every field and call through it. decode.ts and validate.ts write theirs when
 * a description is used for the first time.
 *
 * A description can come from a client. Nothing of it ever becomes code: names and words go through `quote`, everything else is
 * handed over as a constant.
 */
export class Code {
  readonly #lines: string[] = [];
  readonly #constants: unknown[] = [];

  add(...lines: string[]): void {
    this.#lines.push(...lines);
  }

  /** The name under which the code finds a value. */
  constant(value: unknown): string {
    let at = this.#constants.indexOf(value);
    if (at < 0) at = this.#constants.push(value) - 1;
    return `c${at}`;
  }

  /** Every function made has its own profile in the engine, and is optimised for what it alone sees. */
  compile<F>(parameters: string): F {
    const names = this.#constants.map((_, at) => `c${at}`).join(', ');
    const body = `'use strict'; const [${names}] = constants; return (${parameters}) => {\n${this.#lines.join('\n')}\n};`;
    return new Function('constants', body)(this.#constants) as F;
  }
}

/** A text as a literal. */
export const quote = (text: string): string => JSON.stringify(text);

/** A field of an object. */
export const field = (object: string, name: string): string => `${object}[${quote(name)}]`;

/** The value of a field. Names that every object inherits something under count only where they are its own. */
export const read = (object: string, name: string): string =>
  name in Object.prototype
    ? `(Object.hasOwn(${object}, ${quote(name)}) ? ${field(object, name)} : undefined)`
    : field(object, name);
