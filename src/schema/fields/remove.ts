import { isTree, put, type Tree } from '../../base/json/tree.ts';
import type { ObjectSchema } from '../schema.ts';
import { type AnySchema, containerOf, isDeclared, itemElement, schemaAt } from './container.ts';
import { fieldElement } from './element.ts';
import { type FieldSet, hasElement, isEmptySet, subset, withSelf } from './field-set.ts';

/** Returns a copy of an object without the fields and items of a set. Containers that are left empty become null. */
export function removeFields(schema: ObjectSchema, tree: unknown, fields: FieldSet): unknown {
  return isEmptySet(fields) ? tree : without(schema, tree, fields);
}

function without(schema: AnySchema, value: unknown, fields: FieldSet): unknown {
  const container = containerOf(schema, value);
  if (container.type === 'leaf') return typeof value === 'object' ? null : value;
  if (container.type === 'list') {
    if (!Array.isArray(value)) return null;
    const items: unknown[] = [];
    for (const item of value) {
      const element = itemElement(container.schema, item) ?? '';
      if (hasElement(fields, element)) continue;
      const inside = subset(fields, element);
      items.push(inside ? without(container.schema.items, item, inside) : item);
    }
    return items.length > 0 ? items : null;
  }
  if (!isTree(value)) return null;
  const out: Tree = {};
  let isLeft = false;
  for (const key in value) {
    const element = fieldElement(key);
    if (hasElement(fields, element)) continue;
    const inside = subset(fields, element);
    put(out, key, inside ? without(schemaAt(container, key) ?? schema, value[key], inside) : value[key]);
    isLeft = true;
  }
  return isLeft ? out : null;
}

/** Returns the same set with the declared fields above its members: not keys of maps, nor items of lists. */
export function withNamedFields(schema: AnySchema, fields: FieldSet): FieldSet {
  const container = containerOf(schema, {});
  const out: Record<string, FieldSet> = {};
  for (const element in fields) {
    const node = fields[element]!;
    const child = element === '.' ? undefined : childSchema(container, element);
    const inside = child ? withNamedFields(child, node) : node;
    const isNamed = container.type === 'map' && element[0] === 'f' && isDeclared(container, element.slice(2));
    out[element] = isNamed ? withSelf(inside) : inside;
  }
  return out;
}

function childSchema(container: ReturnType<typeof containerOf>, element: string): AnySchema | undefined {
  if (container.type === 'list') return container.schema.items;
  return container.type === 'map' ? schemaAt(container, element.slice(2)) : undefined;
}
