import { expect, test } from 'vitest';
import { anyValueOf } from '../../../../../test/support/any-value.ts';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { fc, forAll } from '../../../../../test/support/property-runs.ts';
import { clone } from '../../../../base/json/tree.ts';
import { DecodeError, decode } from '../../../../schema/decode/decode.ts';
import type { Schema } from '../../../../schema/schema.ts';
import { Pod } from './pod.ts';

const podSchema = Pod.hub.schema;
const pods = fc.record({
  metadata: fc.constant({ name: 'a', namespace: 'ns', annotations: { constructor: 'x' } }),
  spec: anyValueOf(podSchema.fields.spec as Schema, 5),
  status: anyValueOf(podSchema.fields.status as Schema, 4),
});

test('every pod of the right types is stored or rejected with reasons, whatever is written over it', () => {
  forAll(
    { numRuns: 100 },
    pods,
    pods,
    fc.constantFrom(undefined, 'status', 'resize', 'ephemeralcontainers'),
    (a, b, subresource) => {
      const { object } = create(Pod, a);
      const old = clone(object);
      update(Pod, old, b, subresource ? { subresource } : {});
      update(Pod, clone(object), object, subresource ? { subresource } : {});
    },
  );
});

test('defaults of any pod are the same when they run again', () => {
  forAll({ numRuns: 100 }, pods, (pod) => {
    const once = decode(podSchema, pod);
    expect(decode(podSchema, clone(once))).toEqual(once);
  });
});

test('a pod of the wrong types is rejected when it is read', () => {
  forAll(fc.jsonValue(), (value) => {
    try {
      decode(podSchema, { spec: value });
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
    }
  });
});
