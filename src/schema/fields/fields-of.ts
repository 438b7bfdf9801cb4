import { isTree } from '../../base/json/tree.ts';
import type { ObjectSchema } from '../schema.ts';
import { type AnySchema, containerOf, isDeclared, itemElement, schemaAt } from './container.ts';
import { fieldElement } from './element.ts';
import { type FieldSet, LEAF, NO_FIELDS, withSelf } from './field-set.ts';

/** The fields that a configuration mentions: leaves, items of lists, keys of maps. */
export function fieldsOf(schema: ObjectSchema, tree: unknown): FieldSet {
  return below(schema, tree) ?? NO_FIELDS;
}

/** Returns the set of a value; undefined when neither its path nor one below it is a member. */
function below(schema: AnySchema, value: unknown): FieldSet | undefined {
  const container = containerOf(schema, value);
  switch (container.type) {
    case 'leaf':
      return LEAF;
    case 'list':
      return Array.isArray(value) ? itemsOf(container.schema, value) : undefined;
    case 'map': {
      if (!isTree(value)) return undefined;
      const out: Record<string, FieldSet> = {};
      for (const key in value) {
        const child = value[key];
        if (child === undefined) continue;
        const found = below(schemaAt(container, key) ?? schema, child);
        const isOwn = child === null || isEmptyMap(child) || !isDeclared(container, key);
        const node = isOwn ? withSelf(found) : found;
        if (node) out[fieldElement(key)] = node;
      }
      return noneIsUndefined(out);
    }
  }
}

function itemsOf(schema: Parameters<typeof itemElement>[0], items: readonly unknown[]): FieldSet | undefined {
  const out: Record<string, FieldSet> = {};
  for (const item of items) {
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    // Items with the same keys are owned together.
    out[element] = element in out ? LEAF : withSelf(below(schema.items, item));
  }
  return noneIsUndefined(out);
}

function noneIsUndefined(set: FieldSet): FieldSet | undefined {
  for (const _ in set) return set;
  return undefined;
}

function isEmptyMap(value: unknown): boolean {
  return isTree(value) && Object.keys(value).length === 0;
}
