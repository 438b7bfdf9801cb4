/** The lists and maps that the description of a kind reaches. */
import type { ListSchema, MapSchema, Schema } from '../../src/schema/schema.ts';

export interface Collection {
  /** Such as `spec.containers[].env`; the values of a map are under `{}`. */
  readonly path: string;
  readonly schema: ListSchema | MapSchema;
  /** The descriptions from the whole object down to the list or map, with the field that leads to each next one. */
  readonly way: readonly Step[];
}

type Step = { readonly field: string } | { readonly item: true } | { readonly value: true };

/** A shape that contains itself is entered once. */
export function collectionsIn(schema: Schema): Collection[] {
  const found: Collection[] = [];
  const visit = (node: Schema, path: string, way: readonly Step[], inside: readonly object[]): void => {
    switch (node.type) {
      case 'object':
        if (inside.includes(node.fields)) return;
        for (const [field, child] of Object.entries(node.fields)) {
          visit(child, path ? `${path}.${field}` : field, [...way, { field }], [...inside, node.fields]);
        }
        return;
      case 'list':
        found.push({ path, schema: node, way });
        visit(node.items, `${path}[]`, [...way, { item: true }], inside);
        return;
      case 'map':
        found.push({ path, schema: node, way });
        visit(node.values, `${path}{}`, [...way, { value: true }], inside);
        return;
      case 'lazy':
        visit(node.resolve(), path, way, inside);
        return;
      default:
        return;
    }
  };
  visit(schema, '', [], []);
  return found;
}

/** A tree that holds `value` at the end of a way, and nothing else. */
export function treeAt(way: readonly Step[], value: unknown): unknown {
  return way.reduceRight((inner, step) => {
    if ('field' in step) return { [step.field]: inner };
    return 'item' in step ? [inner] : { key: inner };
  }, value);
}
