import { getOrInsert } from '../base/collections/get-or-insert.ts';
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
    return getOrInsert(this.#canonical, value, () => canonicalJson(value));
  }

  keyCount(value: object): number {
    return getOrInsert(this.#keyCounts, value, () => Object.keys(value).length);
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
