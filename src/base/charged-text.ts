import { RegularExpressionError } from './regular-expression-error.ts';

/**
 * A text that counts what a search of a regular expression reads: the engine that follows many possibilities at a time reads characters
 * again, and takes time for each instruction of the expression; the others read on. Has what the engines call of a string.
 */
export class ChargedText {
  readonly length: number;
  readonly #text: string;
  readonly #instructions: number;
  #left: number;
  #last = -1;

  constructor(text: string, instructions: number, limit: number) {
    this.length = text.length;
    this.#text = text;
    this.#instructions = instructions;
    this.#left = limit + text.length;
  }

  charCodeAt(index: number): number {
    this.#charge(index > this.#last ? 1 : this.#instructions);
    this.#last = index;
    return this.#text.charCodeAt(index);
  }

  indexOf(part: string, from: number): number {
    const found = this.#text.indexOf(part, from);
    this.#charge(((found < 0 ? this.length : found) - from) >> 4);
    return found;
  }

  /** Without it, no search accepts the text. */
  get [Symbol.toStringTag](): string {
    return 'String';
  }

  substring(start: number, end: number): string {
    return this.#text.substring(start, end);
  }

  #charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) {
      throw new RegularExpressionError(
        'the text is too long for the regular expression: matching takes too many steps',
      );
    }
  }
}
