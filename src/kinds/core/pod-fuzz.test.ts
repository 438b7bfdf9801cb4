import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clone } from '../../base/tree.ts';
import { DecodeError, decode } from '../../schema/decode.ts';
import type { Schema } from '../../schema/schema.ts';
import { create, update } from '../test-object.ts';
import { Pod } from './pod.ts';

/** Any value of the right type, with as little sense as that allows. */
function anyValueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      if (schema.format === 'quantity') return fc.constantFrom('0', '1', '-1', '500m', '1Gi', '3.7', '1e3', '12E');
      if (schema.format) return fc.constant('2026-01-02T03:04:05Z');
      return fc.constantFrom(...(schema.enum ?? []), '', 'a', 'A', '../x', '/x', 'Always', 'Localhost', 'In', 'linux');
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
        {
          maxKeys: 2,
        },
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

const podSchema = Pod.hub.schema;
const pods = fc.record({
  metadata: fc.constant({ name: 'a', namespace: 'ns', annotations: { constructor: 'x' } }),
  spec: anyValueOf(podSchema.fields.spec as Schema, 5),
  status: anyValueOf(podSchema.fields.status as Schema, 4),
});

test('every pod of the right types is stored or refused with reasons, whatever is written over it', () => {
  fc.assert(
    fc.property(
      pods,
      pods,
      fc.constantFrom(undefined, 'status', 'resize', 'ephemeralcontainers'),
      (a, b, subresource) => {
        const { object } = create(Pod, a);
        const old = clone(object);
        update(Pod, old, b, subresource ? { subresource } : {});
        update(Pod, clone(object), object, subresource ? { subresource } : {});
      },
    ),
    { numRuns: 100 },
  );
});

test('defaults of any pod are the same when they run again', () => {
  fc.assert(
    fc.property(pods, (pod) => {
      const once = decode(podSchema, pod);
      expect(decode(podSchema, clone(once))).toEqual(once);
    }),
    { numRuns: 100 },
  );
});

test('a pod of the wrong types is refused when it is read', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        decode(podSchema, { spec: value });
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
  );
});
