import { isTree } from '../../base/json/tree.ts';
import type { Schema } from '../schema.ts';

/** Further unknown fields are not reported: one mistake can repeat in every item of a list. */
const MAX_REPORTED = 100;

/**
 * Returns the paths of fields that a schema does not describe, such as `spec.containers[0].imag`, in the order of the
 * input. For input that was decoded with the schema; the content of an unknown field is not searched.
 */
export function unknownFields(schema: Schema, input: unknown): string[] {
  const found: string[] = [];
  for (const path of walk(schema, input, '')) if (found.push(path) >= MAX_REPORTED) break;
  return found;
}

function* walk(schema: Schema, value: unknown, path: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  switch (schema.type) {
    case 'object':
      for (const [key, child] of Object.entries(value)) {
        const at = path ? `${path}.${key}` : key;
        const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
        if (field) yield* walk(field, child, at);
        else if (!schema.preserveUnknown) yield at;
      }
      return;
    case 'list':
      if (!Array.isArray(value)) return;
      for (let i = 0; i < value.length; i++) yield* walk(schema.items, value[i], `${path}[${i}]`);
      return;
    case 'map':
      if (isTree(value)) for (const key in value) yield* walk(schema.values, value[key], `${path}.${key}`);
      return;
    case 'lazy':
      yield* walk(schema.resolve(), value, path);
  }
}
