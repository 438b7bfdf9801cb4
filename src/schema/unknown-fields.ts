import { isTree } from '../base/tree.ts';
import type { Schema } from './schema.ts';

/** More are not told: a client that sends them has other problems. */
const MOST = 100;

/**
 * The paths of fields that a description does not know, as `spec.containers[0].imag`, in the order of the input. For
 * input that the description has decoded; what stands inside an unknown field is not looked at.
 */
export function unknownFields(schema: Schema, input: unknown): string[] {
  const found: string[] = [];
  for (const path of walk(schema, input, '')) if (found.push(path) >= MOST) break;
  return found;
}

function* walk(schema: Schema, value: any, path: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  switch (schema.type) {
    case 'object':
      for (const key in value) {
        const at = path ? `${path}.${key}` : key;
        const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
        if (field) yield* walk(field, value[key], at);
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
