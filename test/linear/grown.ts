/** Lengthens the lists and maps of an object. */
import { maxItemsOf } from '../../src/schema/decode/limits.ts';
import type { Collection } from '../kinds/lists-in.ts';
import { itemsOf } from './items.ts';

/** Grows lists and maps of a tree to `count` items each, or to their maximum; adds missing parts on the way. */
export function grow(tree: any, collections: readonly Collection[], count: number): any {
  for (const { way, schema, path } of collections) {
    const field = path
      .replaceAll(/\[\]|\{\}/g, '')
      .split('.')
      .at(-1)!;
    setAt(tree, way, (known: any) =>
      itemsOf(schema, Math.min(count, maxItemsOf(schema)), field, known && Object.values(known)[0]),
    );
  }
  return tree;
}

/** Sets the value at the end of a way, which may derive from the present one; adds missing parts on the way. */
export function setAt(tree: any, way: Collection['way'], value: unknown): any {
  let at = tree;
  for (const [index, step] of way.entries()) {
    const key = 'field' in step ? step.field : 'item' in step ? 0 : (Object.keys(at)[0] ?? 'key');
    const next = way[index + 1];
    if (!next) at[key] = typeof value === 'function' ? value(at[key]) : value;
    else if (typeof at[key] !== 'object' || at[key] === null) at[key] = 'item' in next ? [] : {};
    at = at[key];
  }
  return tree;
}
