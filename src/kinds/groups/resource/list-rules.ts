/** Checks of lists and maps. One that is too long is reported as such, and its items are not checked. */
import { duplicate, type FieldError, tooMany, under } from '../../../schema/field-error.ts';

type Check<T> = (item: T) => readonly FieldError[];

/** Checks every item of an optional list. */
export function eachItem<T>(field: string, list: readonly T[] = [], limit: number, check: Check<T>): FieldError[] {
  if (list.length > limit) return [tooMany(field, list.length, limit)];
  return list.flatMap((item, index) => under(`${field}[${index}]`, check(item)));
}

interface Distinct<T> {
  /** Maximum number of items; absent for no limit. */
  readonly limit?: number;
  readonly key: (item: T) => string;
  readonly check: Check<T>;
}

/** Checks a list whose items have unique keys. */
export function eachDistinct<T>(field: string, list: readonly T[] = [], { limit = Infinity, key, check }: Distinct<T>) {
  if (list.length > limit) return [tooMany(field, list.length, limit)];
  const found = eachItem(field, list, limit, check);
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const each = key(item);
    if (seen.has(each)) found.push(duplicate(`${field}[${index}]`, each));
    seen.add(each);
  });
  return found;
}

interface Entries<T> {
  readonly limit?: number;
  /** Maximum length of keys in error paths; longer ones are shortened. */
  readonly maxKeyLength: number;
  readonly checkKey: Check<string>;
  readonly check: Check<T>;
}

/** Checks every entry of a map. Errors about a key have the path of the map. */
export function eachEntry<T>(field: string, map: Readonly<Record<string, T>> = {}, entries: Entries<T>): FieldError[] {
  const { limit = Infinity, maxKeyLength, checkKey, check } = entries;
  const keys = Object.keys(map);
  if (keys.length > limit) return [tooMany(field, keys.length, limit)];
  return keys.flatMap((key) => [
    ...under(field, checkKey(key)),
    ...under(`${field}[${shortened(key, maxKeyLength)}]`, check(map[key]!)),
  ]);
}

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const rest = limit - 3;
  return `${text.slice(0, Math.ceil(rest / 2))}...${text.slice(text.length - Math.floor(rest / 2))}`;
}
