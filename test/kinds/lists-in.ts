/** The parts that the description of a kind reaches, above all its lists and maps. */
import type { ListSchema, MapSchema, Schema } from '../../src/schema/schema.ts';

/** A part of a description: where it is, and how an object leads to it. */
export interface Part<S extends Schema = Schema> {
  /** Path such as `spec.containers[].env`; the values of a map are under `{}`. */
  readonly path: string;
  readonly schema: S;
  /** Steps from the whole object down to the part. */
  readonly way: readonly Step[];
}

export type Collection = Part<ListSchema | MapSchema>;

export type Step = { readonly field: string } | { readonly item: true } | { readonly value: true };

export function collectionsIn(schema: Schema): Collection[] {
  return partsIn(schema).filter(
    (part): part is Collection => part.schema.type === 'list' || part.schema.type === 'map',
  );
}

/** Returns every part of a description that is not an object, outer parts first. A recursive shape is entered once. */
export function partsIn(schema: Schema): Part[] {
  const found: Part[] = [];
  const visit = (node: Schema, path: string, way: readonly Step[], inside: readonly object[]): void => {
    switch (node.type) {
      case 'object':
        if (inside.includes(node.fields)) return;
        for (const [field, child] of Object.entries(node.fields)) {
          visit(child, path ? `${path}.${field}` : field, [...way, { field }], [...inside, node.fields]);
        }
        return;
      case 'lazy':
        visit(node.resolve(), path, way, inside);
        return;
      default:
        found.push({ path, schema: node, way });
        if (node.type === 'list') visit(node.items, `${path}[]`, [...way, { item: true }], inside);
        if (node.type === 'map') visit(node.values, `${path}{}`, [...way, { value: true }], inside);
    }
  };
  visit(schema, '', [], []);
  return found;
}

/** Returns a tree that holds `value` at the end of a way, and nothing else. */
export function treeAt(way: readonly Step[], value: unknown): unknown {
  return way.reduceRight((inner, step) => {
    if ('field' in step) return { [step.field]: inner };
    return 'item' in step ? [inner] : { key: inner };
  }, value);
}
