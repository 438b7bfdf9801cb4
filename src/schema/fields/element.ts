/**
 * The elements of a path to a field, in the words of `fieldsV1`: `f:<name>` for a field, `k:<keys>` for an item of a list
 * that is found by its keys, `v:<value>` for an item of a set, `i:<index>` for any other item. Equal elements have equal
 * texts.
 */
import { rawJson } from '../../base/json/raw-json.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';

export const fieldElement = (name: string): string => `f:${name}`;

export const valueElement = (value: unknown): string => `v:${rawJson(value)}`;

/** `keys` must be in the order of their names. */
export const keyElement = (keys: Tree): string => `k:${rawJson(keys)}`;

const ORDER = 'fkvi';

/** Length of paths in messages; longer ones are cut: each element may be as long as the request. */
const MAX_SHOWN_PATH = 1_000;

export const shownPath = (path: string) =>
  path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}...` : path;

/** Puts elements into the order in which `fieldsV1` lists them, `.` first; in place. */
export function sortElements(elements: string[]): string[] {
  // Every element is compared with several others, and may be as long as a request.
  const values = new Map<string, unknown>();
  const parsedValue = (element: string) => {
    if (!values.has(element)) values.set(element, JSON.parse(element.slice(2)));
    return values.get(element);
  };
  return elements.sort((a, b) => compareElements(a, b, parsedValue));
}

function compareElements(a: string, b: string, parsedValue: (element: string) => unknown): number {
  if (a === b) return 0;
  const byType = ORDER.indexOf(a[0]!) - ORDER.indexOf(b[0]!);
  if (byType !== 0) return byType;
  switch (a[0]) {
    case 'f':
      return compareText(a, b);
    case 'i':
      return Number(a.slice(2)) - Number(b.slice(2));
    default:
      return compareValues(parsedValue(a), parsedValue(b));
  }
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Numbers, strings, booleans, lists, maps, null: in this order. */
function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  if (rank !== rankOf(b)) return rank - rankOf(b);
  if (typeof a === 'number') return a - (b as number);
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (Array.isArray(a)) return compareLists(a, b as unknown[], compareValues);
  return isTree(a) ? compareLists(Object.entries(a), Object.entries(b as Tree), compareEntries) : 0;
}

function rankOf(value: unknown): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

function compareEntries([name, value]: [string, unknown], [other, otherValue]: [string, unknown]): number {
  return compareText(name, other) || compareValues(value, otherValue);
}

function compareLists<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compare(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Reports whether a text is an element that sets may have. */
export function isElement(text: string): boolean {
  if (text[1] !== ':' || text.length < 2) return false;
  switch (text[0]) {
    case 'f':
      return true;
    case 'i':
      return /^i:[+-]?\d+$/.test(text);
    case 'v':
      // Items of a set are scalars. A list could be nested too deeply to be compared.
      return !/^v:\s*[[{]/.test(text) && parsed(text.slice(2)) !== undefined;
    case 'k': {
      const keys = parsed(text.slice(2));
      return isTree(keys) && Object.values(keys).every((value) => typeof value !== 'object' || value === null);
    }
    default:
      return false;
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** An element as messages show it: `.spec`, `[name="a"]`, `[="a"]`, `[0]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(rest)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `[${keys.join(',')}]`;
    }
    case 'v':
      return `[=${JSON.stringify(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}
