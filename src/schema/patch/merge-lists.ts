/** Merges lists as strategic merge patches do, including the order of the result. */
import { isTree, type Tree } from '../../base/json/tree.ts';
import { goText, goTypeOf } from '../go-text.ts';
import { badPatch, noMergeKey, ORDER, PATCH, unknownDirective } from './merge-directives.ts';
import { PatchError } from './patch-error.ts';

type List = readonly unknown[];

interface ListMerge {
  /** The field that identifies an object; undefined for a list of scalars. */
  readonly key: string | undefined;
  /** The patch lists scalars to delete. */
  readonly deletes: boolean;
  readonly mergeItem: (old: Tree, patch: Tree) => Tree;
}

export function mergeLists(old: List, patch: List, { key, deletes, mergeItem }: ListMerge): unknown[] {
  if (old.length === 0 && patch.length === 0) return [];
  if (!areObjects(old, patch)) {
    if (deletes) {
      const gone = new Set(patch);
      return old.filter((item) => !gone.has(item));
    }
    if (key !== undefined) throw notAMap([...old, ...patch][0]);
    return inOrder([...new Set([...old, ...patch])], patch, old, itself);
  }
  if (key === undefined) throw badPatch('cannot merge lists without merge key for struct');
  const { rest, items } = applyDirectives(old as Tree[], patch as Tree[], key);
  const identify = keyOf(key);
  const merged = [...rest];
  const positions = new Map(rest.map((item, index) => [keyValue(item, key), index] as const).reverse());
  for (const item of items) {
    const id = identify(item);
    const position = positions.get(id);
    if (position !== undefined) {
      merged[position] = mergeItem(merged[position]!, item);
    } else {
      positions.set(id, merged.length);
      merged.push(item);
    }
  }
  return isInOrder(merged, items, identify) ? merged : inOrder(merged, items, rest, identify);
}

/** Puts a list into the order of `$setElementOrder`. */
export function orderList(
  list: List,
  { order, old, patch, key }: { order: List; old: List; patch: List; key: string | undefined },
): unknown[] {
  if (list.length === 0) return [];
  const identify = areObjects(old, patch) ? keyOf(key ?? '') : key === undefined ? itself : keyOf(key);
  checkOrder(patch, order, identify);
  return isInOrder(list, order, identify) ? [...list] : inOrder(list, order, refilled(list, old, identify), identify);
}

/**
 * The old list as Kubernetes treats it when it orders a list: added items fill, at the end, the positions of deleted ones.
 * So an item that replaces another comes after items that only the server knows.
 */
function refilled(list: List, old: List, identify: Identify): List {
  const left = indexes(list, identify);
  const had = indexes(old, identify);
  const kept = old.filter((item) => left.has(identify(item)));
  const added = list.filter((item) => !had.has(identify(item)));
  return [...kept, ...added].slice(0, old.length);
}

/** Checks that `$setElementOrder` names the items of the patch in their order. */
function checkOrder(patch: List, order: List, identify: Identify): void {
  if (order.length === 0) return;
  const wanted = patch.filter((item) => !(isTree(item) && Object.hasOwn(item, PATCH)));
  let at = 0;
  for (const named of order) {
    if (at < wanted.length && identify(wanted[at]) === identify(named)) at++;
  }
  if (at < wanted.length) {
    throw badPatch(
      `The order in patch list:\n${goText(patch)}\n doesn't match ${ORDER} list:\n${goText(order)}\n`,
      `The order in patch list doesn't match ${ORDER} list`,
    );
  }
}

/** Returns the value that identifies an item among others. */
type Identify = (item: unknown) => unknown;

const itself: Identify = (item) => item;

const keyOf =
  (key: string): Identify =>
  (item) => {
    if (!isTree(item)) throw notAMap(item);
    if (!Object.hasOwn(item, key)) throw noMergeKey(item, key);
    return item[key];
  };

const keyValue = (item: Tree, key: string) => (Object.hasOwn(item, key) ? item[key] : undefined);

const notAMap = (item: unknown) => badPatch(`expected a map[string]interface {}, but received a ${goTypeOf(item)}`);

/** Reports whether the items of both lists are objects; all must have the same type. */
function areObjects(...lists: List[]): boolean {
  let first: string | undefined;
  for (const list of lists) {
    for (const item of list) {
      const type = Array.isArray(item) ? 'list' : item === null ? 'null' : typeof item;
      first ??= type;
      if (first === 'list') throw new PatchError('Invalid', 'lists of lists are not supported');
      if (type !== first || type === 'null') {
        const message = 'list element types are not identical';
        throw badPatch(`${message}: ${goText(lists)}`, message);
      }
    }
  }
  return first === 'object';
}

/** Applies the items that carry `$patch`: returns what remains of the old list, and what remains to merge. */
function applyDirectives(old: readonly Tree[], patch: readonly Tree[], key: string): { rest: Tree[]; items: Tree[] } {
  const items: Tree[] = [];
  const gone = new Set<unknown>();
  let replaces = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, PATCH)) {
      items.push(item);
      continue;
    }
    switch (item[PATCH]) {
      case 'delete':
        gone.add(keyOf(key)(item));
        break;
      case 'replace':
        replaces = true;
        break;
      case 'merge':
        throw badPatch('merging lists cannot yet be specified in the patch');
      default:
        throw unknownDirective(item[PATCH], item);
    }
  }
  if (replaces) return { rest: items, items: [] };
  return { rest: gone.size ? old.filter((item) => !gone.has(keyValue(item, key))) : [...old], items };
}

/**
 * Reports whether a list has exactly the items of `order`, in that order, none twice. Patches of a status often name
 * all of them.
 */
function isInOrder(list: List, order: List, identify: Identify): boolean {
  if (list.length !== order.length) return false;
  const seen = new Set<unknown>();
  for (let index = 0; index < list.length; index++) {
    const id = identify(list[index]);
    if (id !== identify(order[index]) || seen.has(id)) return false;
    seen.add(id);
  }
  return true;
}

/**
 * Items named in `order` come in that order; the others keep the order they had in `old`, and go before the first named
 * item that was behind them there. So new items come first.
 */
function inOrder(list: List, order: List, old: List, identify: Identify): unknown[] {
  const wanted = indexes(order, identify);
  const had = indexes(old, identify);
  const indexIn = (item: unknown, among: Map<unknown, number>) => among.get(identify(item)) ?? -1;
  const named = list.filter((item) => wanted.has(identify(item)));
  const others = list.filter((item) => !wanted.has(identify(item)));
  named.sort((a, b) => indexIn(a, wanted) - indexIn(b, wanted));
  others.sort((a, b) => indexIn(a, had) - indexIn(b, had));
  const out: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const limit = indexIn(item, had);
    while (next < others.length && limit >= 0 && indexIn(others[next], had) < limit) out.push(others[next++]);
    out.push(item);
  }
  return [...out, ...others.slice(next)];
}

function indexes(list: List, identify: Identify): Map<unknown, number> {
  const found = new Map<unknown, number>();
  list.forEach((item, index) => {
    const id = identify(item);
    if (!found.has(id)) found.set(id, index);
  });
  return found;
}
