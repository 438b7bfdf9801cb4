/** The examples of all kinds, with lists in them that are as long as wanted. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { maxItemsOf } from '../../src/schema/limits.ts';
import type { Collection } from '../kinds/lists-in.ts';
import { itemsOf } from './items.ts';

const EXAMPLES = new URL('../../examples/kinds/', import.meta.url);

const examples: readonly any[] = readdirSync(EXAMPLES).map((file) =>
  parse(readFileSync(new URL(file, EXAMPLES), 'utf8')),
);

/** A valid object of a kind, in the stored version. */
export function exampleOf({ kind, hub }: Kind): any {
  const found = examples.find((each) => each.kind === kind && each.apiVersion === hub.apiVersion);
  if (!found) throw new Error(`there is no example of ${kind} in ${hub.apiVersion}`);
  return structuredClone(found);
}

/** Lets lists and maps of a tree have `count` items each, or their maximum; what is missing on the way to one is added. */
export function grow(tree: any, collections: readonly Collection[], count: number): any {
  for (const { way, schema, path } of collections) {
    let at = tree;
    for (const [index, step] of way.entries()) {
      const isLast = index === way.length - 1;
      const key = 'field' in step ? step.field : 'item' in step ? 0 : (Object.keys(at)[0] ?? 'key');
      if (isLast) {
        const known = at[key];
        const example = known && Object.values(known)[0];
        const field = path
          .replaceAll(/\[\]|\{\}/g, '')
          .split('.')
          .at(-1)!;
        at[key] = itemsOf(schema, Math.min(count, maxItemsOf(schema)), field, example);
      } else {
        const next = way[index + 1]!;
        if (typeof at[key] !== 'object' || at[key] === null) at[key] = 'item' in next ? [] : {};
        at = at[key];
      }
    }
  }
  return tree;
}

export const kindNamed = (name: string): Kind => allKinds.find(({ kind }) => kind === name)!;
