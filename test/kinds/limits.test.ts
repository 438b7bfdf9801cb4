/**
 * Tests that every list and map of every kind has a maximum length, and that the documentation names the ones that
 * differ.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { DeleteOptions } from '../../src/kinds/shapes/meta/delete-options.ts';
import { decode, LimitError } from '../../src/schema/decode/decode.ts';
import { MAX_LIST_ITEMS, MAX_MAP_ENTRIES, maxItemsOf } from '../../src/schema/decode/limits.ts';
import type { ObjectSchema } from '../../src/schema/schema.ts';
import { type Collection, collectionsIn, treeAt } from './lists-in.ts';

const schemas: readonly (readonly [name: string, schema: ObjectSchema])[] = [
  ...allKinds.flatMap(({ kind, versions }) =>
    versions.map(({ apiVersion, schema }) => [`${kind} of ${apiVersion}`, schema] as const),
  ),
  ['DeleteOptions', DeleteOptions],
];

/** Beyond this, a list could be as long as a request body allows. */
const LONGEST = 50_000;

const mapOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, null]));

function excess({ schema, way }: Collection): unknown {
  const count = maxItemsOf(schema) + 1;
  return treeAt(way, schema.type === 'list' ? new Array(count).fill(null) : mapOf(count));
}

function rejectionOf(schema: ObjectSchema, tree: unknown): string {
  try {
    decode(schema, tree);
  } catch (error) {
    if (error instanceof LimitError) return error.errors.map(({ field, message }) => `${field}: ${message}`).join();
  }
  return 'not rejected';
}

/** A list or map that several kinds share has one decoder. */
const proved = new Set<object>();

describe.each(schemas)('%s', (_, schema) => {
  it('has no list and no map without a maximum', () => {
    const faults = collectionsIn(schema).flatMap((each) => {
      if (proved.has(each.schema)) return [];
      proved.add(each.schema);
      const limit = maxItemsOf(each.schema);
      const path = each.path.replaceAll('[]', '[0]').replaceAll('{}', '[key]');
      const wanted = `${path}: Too many: ${limit + 1}: must have at most ${limit} items`;
      const found = rejectionOf(schema, excess(each));
      return found === wanted && limit <= LONGEST ? [] : [`${each.path}: ${found}`];
    });
    expect(faults).toEqual([]);
  });
});

/** Returns the kind and path of a field; for a field of a template, those of the object that is made from it. */
function ownerOf(kind: string, path: string): string {
  const inPod = /(?:^|\.)template\.(spec\..*)$/.exec(path)?.[1];
  if (inPod) return `Pod ${inPod}`;
  const inJob = path.replace('spec.jobTemplate.', '');
  return `${inJob === path ? kind : 'Job'} ${inJob}`;
}

it('the documentation lists the maxima', () => {
  const page = readFileSync(new URL('../../docs/load.md', import.meta.url), 'utf8');
  const section = page.split('## Lists and maps\n')[1]?.split('\n## ')[0] ?? '';
  const documented = [...section.matchAll(/^\| (?:`(\w+)` )?(?:`([^`]+)`|any other (\w+)) \| ([\d,]+) \|/gm)].map(
    ([, kind, path, other, limit]) => `${kind ? `${kind} ${path}` : other} ${limit?.replaceAll(',', '')}`,
  );
  const own = allKinds.flatMap(({ kind, hub }) =>
    collectionsIn(hub.schema).flatMap(({ path, schema }) => {
      if (schema.maxItems === undefined) return [];
      return `${ownerOf(kind, path)} ${schema.maxItems}`;
    }),
  );
  expect(documented.toSorted()).toEqual(
    [...new Set(own), `list ${MAX_LIST_ITEMS}`, `map ${MAX_MAP_ENTRIES}`].toSorted(),
  );
});
