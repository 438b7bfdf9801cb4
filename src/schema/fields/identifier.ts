/**
 * Finds identifiers that differ from object to object in the elements of list items: the address of a pod and the uid
 * of an owner, which are keys, and the range of addresses of a node and the uids of a Job's uncounted pods, which are
 * values.
 */
import { isTree } from '../../base/json/tree.ts';
import type { ListSchema } from '../schema.ts';

const KEYS: ReadonlySet<string> = new Set(['ip', 'uid']);
const KEY_TEXT = '[-.:0-9A-Za-z]+';
const VALUE_TEXT = '(?:[.:0-9A-Fa-f]+/[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';

/** Identifiers in the JSON of a set of fields: `{"k:{\"uid\":\"a-b-c\"}":…`, `{"v:\"10.0.0.0/24\"":…`. No name looks like that. */
export const IDENTIFIERS_IN_JSON = new RegExp(
  String.raw`(?<=[{,]"k:\{\\"(?:${[...KEYS].join('|')})\\":\\")${KEY_TEXT}(?=\\"\}")` +
    String.raw`|(?<=[{,]"v:\\")${VALUE_TEXT}(?=\\"")`,
  'g',
);

const KEY = new RegExp(`^${KEY_TEXT}$`);
const VALUE = new RegExp(`^${VALUE_TEXT}$`);

/** Finds the identifier of an item; undefined when it is told apart like any other. */
export function identifierIn({ list, keys = [] }: ListSchema): ((item: unknown) => string | undefined) | undefined {
  if (list === 'set') return (item) => matching(item, VALUE);
  const [key, ...others] = list === 'map' ? keys : [];
  if (key === undefined || others.length > 0 || !KEYS.has(key)) return undefined;
  return (item) => (isTree(item) ? matching(item[key], KEY) : undefined);
}

function matching(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}
