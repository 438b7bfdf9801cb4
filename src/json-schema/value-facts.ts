import { canonicalJson } from '../base/json/canonical.ts';
import { deepEqual } from '../base/json/tree.ts';

/**
 * Remembers facts about the values of one validation that take long to determine, and that each of thousands of schemas
 * may ask for.
 */
export class ValueFacts {
  readonly #canonical = new WeakMap<object, string>();
  readonly #keyCounts = new WeakMap<object, number>();
  readonly #unchanged = new WeakMap<object, { readonly old: unknown; readonly isSame: boolean }>();
  #text = '';
  #characters = 0;

  canonical(value: unknown): string {
    if (typeof value !== 'object' || value === null) return canonicalJson(value);
    let text = this.#canonical.get(value);
    if (text === undefined) {
      text = canonicalJson(value);
      this.#canonical.set(value, text);
    }
    return text;
  }

  keyCount(value: object): number {
    let count = this.#keyCounts.get(value);
    if (count === undefined) {
      count = Object.keys(value).length;
      this.#keyCounts.set(value, count);
    }
    return count;
  }

  /** Reports whether a value equals the one that it replaces. */
  isSame(value: unknown, old: unknown): boolean {
    if (typeof value !== 'object' || value === null) return value === old;
    let known = this.#unchanged.get(value);
    if (!known || known.old !== old) {
      known = { old, isSame: deepEqual(value, old) };
      this.#unchanged.set(value, known);
    }
    return known.isSame;
  }

  /** The number of code points. */
  characters(text: string): number {
    if (this.#text !== text) {
      let count = 0;
      for (const _ of text) count++;
      this.#text = text;
      this.#characters = count;
    }
    return this.#characters;
  }
}
