/** Protobuf bodies that no client of Kubernetes sends. */
import { expect, it } from 'vitest';
import { allKinds } from '../../../kinds/all.ts';
import { ProtoWriter } from '../../../protocols/protobuf/writer.ts';
import { Registry } from '../../objects/registry/registry.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import { ProtobufBodies } from './bodies.ts';
import { enveloped, envelopeHead } from './envelope.ts';

const bodies = new ProtobufBodies(new Registry(allKinds, allSubresources), 100);
const out = new ProtoWriter(1_024);

/** Returns the message that `write` writes, from its end. */
function message(write: () => void): Buffer {
  write();
  return out.finish();
}

function decoded(apiVersion: string, kind: string, bytes: Buffer): any {
  return bodies.decode(enveloped(envelopeHead(apiVersion, kind), bytes), { apiVersion, kind });
}

/** Nests a message inside others: the first number is that of the outermost field. */
function inside(numbers: readonly number[], bytes: Buffer): Buffer {
  return numbers.reduceRight((inner, number) => message(() => out.bytes(number, inner)), bytes);
}

const many = (count: number, write: () => void) => message(() => Array.from({ length: count }, write));

const nothing = Buffer.alloc(0);
const json = inside([1], Buffer.from(`[${'0,'.repeat(30_000)}0]`));

it.each([
  [
    'list items',
    'v1',
    'Pod',
    inside(
      [2],
      many(260_000, () => out.bytes(2, nothing)),
    ),
  ],
  ['entries of a map', 'v1', 'ConfigMap', many(260_000, () => out.bytes(2, nothing))],
  ['packed numbers', 'v1', 'Pod', inside([2, 14], inside([4], Buffer.alloc(260_000, 1)))],
  ['unknown fields', 'v1', 'Pod', many(260_000, () => out.number(99, 1))],
  ['values of JSON inside of it', 'apps/v1', 'ControllerRevision', many(10, () => out.bytes(2, json))],
])('a body with more parts than JSON may have is rejected with 413: %s', (_, apiVersion, kind, bytes) => {
  expect(bytes.length).toBeLessThan(3 * 1024 * 1024);
  expect(() => decoded(apiVersion, kind, bytes)).toThrow('limit is 250000 fields and list items');
});

it('uses the last occurrence of a repeated field, even an empty one', () => {
  const metadata = message(() => {
    out.string(1, '');
    out.string(1, 'a');
  });
  expect(decoded('v1', 'ConfigMap', inside([1], metadata)).metadata).toEqual({});
});

it('rejects numbers that JSON cannot represent', () => {
  const schema = (value: number) =>
    inside(
      [2, 7, 4, 1],
      message(() => out.double(9, value)),
    );
  const read = (value: number) => decoded('apiextensions.k8s.io/v1', 'CustomResourceDefinition', schema(value));
  expect(read(1.5).spec.versions[0].schema.openAPIV3Schema.maximum).toBe(1.5);
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect(() => read(value)).toThrow('a number is not finite');
  }
});

it('carries nanoseconds over a second, as Go does', () => {
  const lease = (nanos: number) => {
    const time = message(() => {
      out.signed(2, nanos);
      out.signed(1, 10);
    });
    return decoded('coordination.k8s.io/v1', 'Lease', inside([2, 3], time)).spec.acquireTime;
  };
  expect(lease(5_000)).toBe('1970-01-01T00:00:10.000005Z');
  expect(lease(2_000_005_000)).toBe('1970-01-01T00:00:12.000005Z');
  expect(lease(-1_000)).toBe('1970-01-01T00:00:09.999999Z');
});

it('decodes an item of free-form data without a value as null', () => {
  const schema = inside(
    [2, 7, 4, 1],
    many(2, () => out.bytes(20, Buffer.alloc(0))),
  );
  const { spec } = decoded('apiextensions.k8s.io/v1', 'CustomResourceDefinition', schema);
  expect(spec.versions[0].schema.openAPIV3Schema.enum).toEqual([null, null]);
});
