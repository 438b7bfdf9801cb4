/** Rules that many schemas share. */
import { addAll } from '../base/collections/add-all.ts';
import type { Tree } from '../base/json/tree.ts';
import { duplicate, type FieldError, invalid, under } from './field-error.ts';
import type { Rule } from './schema.ts';

/** A string must pass a check of names.ts. */
export const matches =
  (check: (text: string) => readonly string[]): Rule<string> =>
  (text) => {
    const complaints = check(text);
    return complaints.length === 0 ? undefined : complaints.map((complaint) => invalid('', text, complaint));
  };

/**
 * Requires that no two items of a list have the same value in a field (of a list of scalars: the same value, without a
 * field).
 */
export function unique(field = ''): Rule<readonly unknown[]> {
  return (items) => {
    const seen = new Set<unknown>();
    const found: FieldError[] = [];
    items.forEach((item, index) => {
      const value = field ? (item as Tree)[field] : item;
      if (value === undefined || value === '') return;
      if (seen.has(value)) addAll(found, under(`[${index}]`, [duplicate(field, value)]));
      seen.add(value);
    });
    return found;
  };
}

/** Applies a rule to every key of a map; the path of a key is `[key]`. */
export const keys =
  (rule: Rule<string>): Rule<Readonly<Record<string, unknown>>> =>
  (map, context) =>
    Object.keys(map).flatMap((key) => {
      const wrong = rule(key, { ...context, old: undefined, parent: map });
      if (wrong === undefined) return [];
      return under(`[${key}]`, 'reason' in wrong ? [wrong] : wrong);
    });
