/** Values made from a description: any that fits it, or one in which every field is set. */
import fc from 'fast-check';
import type { IntegerSchema, ObjectSchema, Schema, StringSchema } from '../../src/schema/schema.ts';

/** Number of fields that are set at once; fewer further down, so that the whole stays small. */
const fieldsAt = (depth: number) => (depth < 3 ? 6 : depth < 6 ? 4 : 2);

/** Anything that a client may send for the description. Free-form data is scalar, so that nothing in it can be shared. */
export function arbitrary(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return integer(schema);
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'intOrString':
      return fc.oneof(fc.integer({ min: -1, max: 70000 }), fc.constantFrom('25%', 'http', ''));
    case 'any':
      return fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.boolean());
    case 'list':
      return fc.array(arbitrary(schema.items, depth + 1), { maxLength: 2 });
    case 'map':
      return fc.dictionary(word, arbitrary(schema.values, depth + 1), { maxKeys: 2 });
    case 'object':
      return someFields(schema, depth);
    case 'lazy':
      return depth > 8 ? fc.constant({}) : fc.constant(null).chain(() => arbitrary(schema.resolve(), depth + 1));
  }
}

function someFields({ fields }: ObjectSchema, depth: number): fc.Arbitrary<unknown> {
  return fc
    .subarray(Object.keys(fields), { maxLength: Math.min(fieldsAt(depth), Object.keys(fields).length) })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, arbitrary(fields[name]!, depth + 1)]))));
}

const word = fc.constantFrom('a', 'app', 'cpu', 'memory', 'storage', 'example.com/x', 'A_b.c-d');

function text({ enum: words, format }: StringSchema): fc.Arbitrary<unknown> {
  switch (format) {
    case 'time':
    case 'microTime':
      return fc
        .integer({ min: 0, max: 4_000_000_000 })
        .map((seconds) =>
          new Date(seconds * 1000).toISOString().replace('.000Z', format === 'time' ? 'Z' : '.000001Z'),
        );
    case 'quantity':
      return fc.constantFrom('0', '1', '100m', '1.5', '1Gi', '1024Mi', '1e3', '2k', 3);
    case 'bytes':
      return fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'duration':
      return fc.constantFrom('0s', '30s', '1h', '1h30m');
    case undefined:
      return words ? fc.constantFrom(...words) : fc.oneof(word, fc.string({ maxLength: 4 }));
  }
}

function integer({ format, min, max }: IntegerSchema): fc.Arbitrary<number> {
  // The largest int32 is left out: conversions use it for "no limit", as Kubernetes does.
  const limit = format === 'int32' ? 2 ** 31 - 2 : Number.MAX_SAFE_INTEGER;
  return fc.oneof(
    fc.maxSafeInteger().map((value) => Math.min(max ?? limit, Math.max(min ?? -limit, value))),
    fc.integer({ min: Math.max(min ?? -3, -limit), max: Math.min(max ?? 300, Math.max(min ?? 0, 300)) }),
  );
}

/** Returns a value with every field set that the description reaches; a recursive shape stops at the second round. */
export function full(schema: Schema, inside: readonly object[] = []): unknown {
  switch (schema.type) {
    case 'string':
      return fullText(schema);
    case 'integer':
      return Math.min(schema.max ?? 7, Math.max(schema.min ?? 7, 7));
    case 'number':
      return 1.5;
    case 'boolean':
      return true;
    case 'intOrString':
      return 7;
    case 'any':
      return 'anything';
    case 'list':
      return [full(schema.items, inside)];
    case 'map':
      return { key: full(schema.values, inside) };
    case 'lazy':
      return full(schema.resolve(), inside);
    case 'object': {
      const { fields } = schema;
      if (inside.filter((each) => each === fields).length > 1) return {};
      const deeper = [...inside, fields];
      return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, full(field, deeper)]));
    }
  }
}

function fullText({ enum: words, format }: StringSchema): string {
  switch (format) {
    case 'time':
      return '2026-01-02T03:04:05Z';
    case 'microTime':
      return '2026-01-02T03:04:05.000006Z';
    case 'quantity':
      return '1Gi';
    case 'bytes':
      return 'AAE=';
    case 'duration':
      return '1m0s';
    case undefined:
      return words?.at(-1) ?? 'text';
  }
}
