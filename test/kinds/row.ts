/** Tests the rows of tables, as text: what kubectl shows, kind by kind. */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { defaultColumns } from '../../src/kinds/columns/column.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');

/** A time before the one that rows are made at. */
export const ago = (seconds: number) => `${new Date(NOW - seconds * 1000).toISOString().slice(0, 19)}Z`;

/**
 * Returns each cell behind the name of its column; those that only `-o wide` shows have a bar. The object is five
 * minutes old.
 */
function row(kind: string, object: any): string {
  const found = allKinds.find((each) => each.kind === kind);
  if (!found) throw new Error(`there is no ${kind}`);
  const columns = found.columns ?? defaultColumns;
  const shown = { ...object, metadata: { name: 'x', creationTimestamp: ago(300), ...object.metadata } };
  return columns.map(({ name, priority, cell }) => `${priority ? '|' : ''}${name}=${cell(shown, NOW)}`).join(' ');
}

type Example = [what: string, object: any, row: string];

export function expectRows(kinds: [kind: string, examples: Example[]][]): void {
  describe.each(kinds)('%s', (kind, examples) => {
    it.each(examples)('%s', (_, object, expected) => {
      expect(row(kind, object)).toBe(expected);
    });
  });
}

export const template = {
  spec: {
    containers: [
      { name: 'a', image: 'nginx' },
      { name: 'b', image: 'redis:7' },
    ],
  },
};
export const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
};
