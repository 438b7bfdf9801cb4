import fc from 'fast-check';
import type { Schema } from '../../src/schema/schema.ts';

const WORDS = ['', 'a', 'A', '../x', '/x', 'Always', 'Localhost', 'In', 'linux', 'default', 'example.com/x'];

/** Generates any value of the right type, with as little sense as that allows. */
export function anyValueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      if (schema.format === 'quantity') return fc.constantFrom('0', '1', '-1', '500m', '1Gi', '3.7', '1e3', '12E');
      if (schema.format === 'duration') return fc.constant('10s');
      if (schema.format) return fc.constantFrom('2026-01-02T03:04:05Z');
      return fc.constantFrom(...(schema.enum ?? []), ...WORDS);
    case 'integer':
      return fc.constantFrom(-1, 0, 1, 80, 70000);
    case 'boolean':
      return fc.boolean();
    case 'intOrString':
      return fc.constantFrom<number | string>(0, 80, 'http', 'HTTP', '');
    case 'list':
      return fc.array(anyValueOf(schema.items, depth - 1), { maxLength: 2 });
    case 'map':
      return fc.dictionary(
        fc.constantFrom('cpu', 'constructor', '__proto__', 'a b'),
        anyValueOf(schema.values, depth - 1),
        { maxKeys: 2 },
      );
    case 'object': {
      if (depth <= 0) return fc.constant({});
      const fields = Object.entries(schema.fields).map(
        ([name, field]) => [name, anyValueOf(field, depth - 1)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
    }
    default:
      return fc.constant({});
  }
}
