/** Trees that differ a little, for tests with many objects. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind, Version } from '../../src/kinds/kind.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'examples', 'kinds');

/** An object of every kind. */
export const examples: readonly any[] = readdirSync(FOLDER).flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((each) => each.toJS() as any),
);

export function kindOf({ kind, apiVersion }: any): { readonly kind: Kind; readonly version: Version } | undefined {
  const found = [...allKinds].find(
    (each) => each.kind === kind && each.versions.some((v) => v.apiVersion === apiVersion),
  );
  return found && { kind: found, version: found.versions.find((each) => each.apiVersion === apiVersion)! };
}

/** Returns the tree with fewer fields and items, and other values, as `choose` decides. */
export function varied(value: any, choose: () => number): any {
  if (Array.isArray(value)) return value.filter(() => choose() % 4 > 0).map((item) => varied(item, choose));
  if (typeof value !== 'object' || value === null) return choose() % 3 > 0 ? value : otherValue(value);
  const kept = Object.entries(value).filter(([key]) => key === 'kind' || key === 'apiVersion' || choose() % 4 > 0);
  return Object.fromEntries(kept.map(([key, child]) => [key, key === 'kind' ? child : varied(child, choose)]));
}

const otherValue = (value: unknown) => (typeof value === 'string' ? `${value}x` : value);
