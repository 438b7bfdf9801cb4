/** How lists and maps of devices are judged: one that is too long is told so, and nothing else. */
import { duplicate, type FieldError, tooMany, under } from '../../../schema/field-error.ts';

type Judge<T> = (item: T) => readonly FieldError[];

/** Every item of a list that may be absent. */
export function eachItem<T>(field: string, list: readonly T[] = [], limit: number, judge: Judge<T>): FieldError[] {
  if (list.length > limit) return [tooMany(field, list.length, limit)];
  return list.flatMap((item, index) => under(`${field}[${index}]`, judge(item)));
}

interface Distinct<T> {
  /** None where absent. */
  readonly limit?: number;
  readonly key: (item: T) => string;
  readonly judge: Judge<T>;
}

/** The same for a list in which no key may stand twice. */
export function eachDistinct<T>(field: string, list: readonly T[] = [], { limit = Infinity, key, judge }: Distinct<T>) {
  if (list.length > limit) return [tooMany(field, list.length, limit)];
  const found = eachItem(field, list, limit, judge);
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
  /** Longer keys are cut in messages. */
  readonly longestKey: number;
  readonly judgeKey: Judge<string>;
  readonly judge: Judge<T>;
}

/** Every entry of a map; what is wrong with a key is said of the map. */
export function eachEntry<T>(field: string, map: Readonly<Record<string, T>> = {}, entries: Entries<T>): FieldError[] {
  const { limit = Infinity, longestKey, judgeKey, judge } = entries;
  const keys = Object.keys(map);
  if (keys.length > limit) return [tooMany(field, keys.length, limit)];
  return keys.flatMap((key) => [
    ...under(field, judgeKey(key)),
    ...under(`${field}[${shortened(key, longestKey)}]`, judge(map[key]!)),
  ]);
}

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const rest = limit - 3;
  return `${text.slice(0, Math.ceil(rest / 2))}...${text.slice(text.length - Math.floor(rest / 2))}`;
}
