import { isTree, put, type Tree } from '../../base/json/tree.ts';
import type { ListSchema, ObjectSchema } from '../schema.ts';
import { isEmpty } from './compare.ts';
import { type AnySchema, containerOf, itemElement, schemaAt } from './container.ts';

/**
 * Merges a configuration into an object. Fields of the configuration win; nothing is removed. Lists are in the order of the
 * configuration, with the items that it does not mention between them. Neither argument is changed.
 */
export function mergeFields(schema: ObjectSchema, live: unknown, config: unknown): unknown {
  return merged(schema, live, config);
}

function merged(schema: AnySchema, live: unknown, config: unknown): unknown {
  if (config === undefined) return live;
  const container = containerOf(schema, live, config);
  if (container.type === 'leaf' || (isEmpty(live) && isEmpty(config))) return config;
  if (container.type === 'list') {
    const items = mergedItems(container.schema, asList(live), asList(config));
    return items.length > 0 ? items : undefined;
  }
  const out: Tree = isTree(live) ? { ...live } : {};
  if (!isTree(config)) return out;
  for (const key in config) {
    const value = merged(schemaAt(container, key) ?? schema, ownValue(live, key), config[key]);
    if (value !== undefined) put(out, key, value);
  }
  return out;
}

function ownValue(tree: unknown, key: string): unknown {
  return isTree(tree) && Object.hasOwn(tree, key) ? tree[key] : undefined;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The items of the configuration in their order; each other item follows the one that it followed before. */
function mergedItems(schema: ListSchema, live: readonly unknown[], config: readonly unknown[]): unknown[] {
  const old = live.map((item) => itemElement(schema, item));
  const next = config.map((item) => itemElement(schema, item));
  const oldItems = uniqueItems(old, live);
  const nextItems = new Map(next.map((element, i) => [element, config[i]]));
  const known = new Set(old);
  const shared = next.filter((element) => known.has(element));
  let nextShared = 0;
  const done = new Set<string | undefined>();
  const out: unknown[] = [];
  const take = (element: string | undefined) => {
    done.add(element);
    const item = merged(schema.items, oldItems.get(element), nextItems.get(element));
    if (item !== undefined) out.push(item);
  };
  for (let l = 0, r = 0; l < old.length || r < next.length; ) {
    if (l < old.length && r < next.length) {
      if (old[l] === next[r]) {
        take(old[l]);
        l++;
        r++;
        nextShared++;
        continue;
      }
      if (nextItems.has(old[l]) && nextShared < shared.length && shared[nextShared] !== old[l]) {
        l++;
        continue;
      }
    }
    if (l < old.length) {
      if (!nextItems.has(old[l])) {
        out.push(live[l]);
        l++;
        continue;
      }
      if (done.has(old[l])) l++;
    }
    if (r < next.length) {
      take(next[r]);
      if (shared[nextShared] === next[r]) nextShared++;
      r++;
    }
  }
  return out;
}

/** Items that have the same keys as others are not merged with. */
function uniqueItems(elements: readonly (string | undefined)[], items: readonly unknown[]): Map<unknown, unknown> {
  const found = new Map<unknown, unknown>();
  elements.forEach((element, i) => void found.set(element, found.has(element) ? undefined : items[i]));
  return found;
}
