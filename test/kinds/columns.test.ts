/** Tests the tables of every kind. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { deepFreeze } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { defaultColumns } from '../../src/kinds/columns/column.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { decode } from '../../src/schema/decode/decode.ts';
import { arbitrary, full } from './arbitrary.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'kinds');
const NOW = Date.parse('2026-06-01T12:00:00Z');

const kinds = allKinds.map((kind) => ({ name: kind.kind, kind }));

const columnsOf = (kind: Kind) => kind.columns ?? defaultColumns;

function rowOf(kind: Kind, object: any): unknown[] {
  return columnsOf(kind).map(({ cell }) => cell(object, NOW));
}

/**
 * Requires text, an integer or a boolean in each cell: nothing that JSON would show as something else, and nothing half
 * written.
 */
function expectCells(cells: readonly unknown[]): void {
  for (const cell of cells) {
    expect(['string', 'number', 'boolean']).toContain(typeof cell);
    expect(String(cell)).not.toMatch(/\b(undefined|NaN)\b|\[object/);
  }
}

describe.each(kinds)('$name', ({ kind }) => {
  it('has columns with a name and a description each', () => {
    const columns = columnsOf(kind);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
    for (const { description } of columns) expect(description).toMatch(/^[A-Z].*\.$/);
    expect(columns.filter(({ name, format }) => name === 'Name' && format === 'name')).toHaveLength(1);
  });

  it('renders an object in which every field is set', () => {
    const object = deepFreeze(decode(kind.hub.schema, full(kind.hub.schema)) as object);
    expectCells(rowOf(kind, object));
  });

  it('renders any object, and changes none', () => {
    fc.assert(
      fc.property(arbitrary(kind.hub.schema), (input) => {
        const object = deepFreeze(decode(kind.hub.schema, input) as object);
        // Names and times may be missing here, as no rule has looked at the object.
        expect(rowOf(kind, object)).toHaveLength(columnsOf(kind).length);
      }),
      { numRuns: 60 },
    );
  });

  it('renders the bare metadata of a bookmark', () => {
    const bookmark = { kind: kind.kind, apiVersion: kind.hub.apiVersion, metadata: { resourceVersion: '7' } };
    for (const cell of rowOf(kind, bookmark)) expect(String(cell)).not.toMatch(/undefined|NaN/);
  });
});

describe('the examples', () => {
  const files = readdirSync(EXAMPLES);
  it.each(files)('%s', (file) => {
    const manifest = parse(readFileSync(join(EXAMPLES, file), 'utf8'), { version: '1.1' });
    const found = kinds.find(({ name }) => name === manifest.kind);
    expect(found, manifest.kind).toBeDefined();
    const { kind } = found!;
    const version = kind.versions.find(({ apiVersion }) => apiVersion === manifest.apiVersion) ?? kind.hub;
    const object: any = decode(version.schema, manifest);
    object.apiVersion = kind.hub.apiVersion;
    object.metadata.creationTimestamp = '2026-06-01T11:59:00Z';
    const cells = rowOf(kind, version.toHub ? version.toHub(object) : object);
    expectCells(cells);
    const at = columnsOf(kind).findIndex(({ name }) => name === 'Age');
    if (at >= 0) expect(cells[at]).toBe('60s');
  });
});
