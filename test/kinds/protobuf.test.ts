/** Tests that clients can send in protobuf what they send in JSON, for every kind that has a protobuf form. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { federationKinds } from '../../src/federation/kinds.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { CustomResourceDefinition } from '../../src/kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import { fieldNumbers } from '../../src/kinds/protobuf/all.ts';
import { parseFields } from '../../src/kinds/protobuf/field-numbers.ts';
import { plainItem } from '../../src/server/objects/body/body.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { DecodeError } from '../../src/server/serving/codec/decode-error.ts';
import { Definitions } from '../../src/server/serving/openapi/definitions.ts';
import { ProtobufBodies } from '../../src/server/serving/protobuf/bodies.ts';
import { ProtobufReplies } from '../../src/server/serving/protobuf/replies.ts';
import { arbitrary } from './arbitrary.ts';
import { delimited, Encoder, integer, text, varint } from './protobuf-encoder.ts';

const registry = new Registry(allKinds, allSubresources);
const definitions = new Definitions(registry);
const bodies = new ProtobufBodies(registry, 100);
const encoder = new Encoder(definitions);
const replies = new ProtobufReplies(registry);

/**
 * Versions of Kubernetes' groups without a protobuf form: 1.7's clients of the first use JSON, clients only read the
 * second. Definitions of custom kinds have separate forms, which a test below reads.
 */
const WITHOUT = new Set(['batch/v2alpha1', 'metrics.k8s.io/v1beta1', 'apiextensions.k8s.io/v1']);

/** Kinds outside Kubernetes' groups are JSON and YAML only. */
function isKubernetesGroup(apiVersion: string): boolean {
  const [group] = apiVersion.split('/') as [string];
  return !group.includes('.') || group.endsWith('.k8s.io');
}

/** Fields of Kubernetes 1.7 whose numbers are not in use any more. */
const WITHOUT_NUMBER = new Set(['ObjectMeta.initializers', 'ObjectMeta.clusterName']);

const versions = allKinds
  .flatMap((kind) => kind.versions.map((version) => ({ kind: kind.kind, ...version })))
  .filter(({ apiVersion }) => isKubernetesGroup(apiVersion) && !WITHOUT.has(apiVersion));

test.each(versions.map((version) => [`${version.apiVersion} ${version.kind}`, version] as const))(
  '%s: read as it was written',
  (_, { apiVersion, kind, schema }) => {
    if (!fieldNumbers(apiVersion, kind)) return; // Reported below.
    const objects = arbitrary(schema).map((object: any) => ({ metadata: { name: 'a' }, ...object }));
    fc.assert(
      fc.property(objects, (object) => {
        const { bytes, tree } = encoder.body(apiVersion, schema, object);
        expect(bodies.decode(bytes, { apiVersion: 'wrong', kind: 'Wrong' })).toEqual(tree);
      }),
      { numRuns: 20 },
    );
  },
);

test.each(
  versions
    .filter(({ kind }) => federationKinds.some((each) => each.kind === kind))
    .map((version) => [`${version.apiVersion} ${version.kind}`, version] as const),
)('%s: read by a federation, which serves no pods, as by a cluster', (_, { apiVersion, schema }) => {
  const federation = new ProtobufBodies(new Registry(federationKinds, allSubresources), 100);
  const objects = arbitrary(schema).map((object: any) => ({ metadata: { name: 'a' }, ...object }));
  fc.assert(
    fc.property(objects, (object) => {
      const { bytes, tree } = encoder.body(apiVersion, schema, object);
      expect(federation.decode(bytes, { apiVersion: 'wrong', kind: 'Wrong' })).toEqual(tree);
    }),
    { numRuns: 3 },
  );
});

/** Encodes an object as a reply of the server, in its envelope. */
function replied(object: any): Buffer {
  const body = replies.encode({ type: 'object', item: plainItem(object) }, undefined);
  if (!body || body instanceof Promise) throw new Error(`${object.kind} has no protobuf form`);
  return body.bytes;
}

/**
 * Returns the object without the parts that a message cannot express: null, empty lists and maps, and zeros that are
 * the same as absent.
 */
const sayable = (apiVersion: string, schema: any, object: any) => encoder.body(apiVersion, schema, object).tree;

test.each(versions.map((version) => [`${version.apiVersion} ${version.kind}`, version] as const))(
  '%s: replied as it can be read',
  (_, { apiVersion, kind, schema }) => {
    if (!fieldNumbers(apiVersion, kind)) return; // Reported below.
    const objects = arbitrary(schema).map((object: any) => ({ apiVersion, kind, metadata: { name: 'a' }, ...object }));
    fc.assert(
      fc.property(objects, (object) => {
        const bytes = replied({ ...object, apiVersion, kind });
        expect(bodies.decode(bytes, { apiVersion: 'wrong', kind: 'Wrong' })).toEqual(
          sayable(apiVersion, schema, object),
        );
      }),
      { numRuns: 20 },
    );
  },
);

describe('the numbers', () => {
  /** Returns every shape that a body can hold. */
  const shapes = () => {
    const seen = new Map<string, { home: string; name: string; fields: string[] }>();
    for (const { home, shape } of definitions.all.values()) {
      if (!fieldNumbers(home, shape.name)) continue;
      seen.set(`${home} ${shape.name}`, { home, name: shape.name, fields: Object.keys(shape.fields) });
    }
    return [...seen.values()];
  };

  const numbered = (home: string, name: string): string[] =>
    parseFields(fieldNumbers(home, name) ?? '').flatMap((field) =>
      field.isInline ? numbered(home, field.name) : [field.name],
    );

  it('are there for every field of every shape', () => {
    for (const { home, name, fields } of shapes()) {
      const known = new Set(['kind', 'apiVersion', ...numbered(home, name)]);
      const missing = fields.filter((field) => !known.has(field) && !WITHOUT_NUMBER.has(`${name}.${field}`));
      const advice = `${name} of ${home} has no numbers for these fields: write them into its line in src/kinds/protobuf/`;
      expect(missing, advice).toEqual([]);
    }
  });

  it('are there for every kind, and each once', () => {
    for (const { apiVersion, kind } of versions) {
      const line = fieldNumbers(apiVersion, kind);
      const advice = `write a line "${kind}: 'metadata spec status'" for ${apiVersion} into src/kinds/protobuf/`;
      expect(line, `${kind} of ${apiVersion} has no protobuf numbers: ${advice}`).toBeDefined();
      const numbers = parseFields(line ?? '').map(({ number }) => number);
      expect(new Set(numbers).size, `${kind} of ${apiVersion} has a number twice`).toBe(numbers.length);
    }
  });
});

it('custom resource definitions: schemas that have several forms are read', () => {
  const { bytes } = encoder.body('apiextensions.k8s.io/v1', CustomResourceDefinition.hub.schema, {
    metadata: { name: 'a' },
  });
  expect(bodies.decode(bytes, { apiVersion: 'wrong', kind: 'Wrong' })).toMatchObject({
    kind: 'CustomResourceDefinition',
  });
  const json = (value: unknown) => delimited(1, Buffer.from(JSON.stringify(value)));
  const typed = (type: string, ...more: Buffer[]) => Buffer.concat([text(5, type), ...more]);
  const flag = (number: number) => Buffer.from([number << 3, 1]);
  const property = (name: string, schema: Buffer) =>
    delimited(29, Buffer.concat([text(1, name), delimited(2, schema)]));
  const schema = typed(
    'object',
    property('list', typed('array', delimited(24, delimited(1, typed('string'))))),
    property('map', typed('object', delimited(30, Buffer.concat([flag(1), delimited(2, typed('integer'))])))),
    property('open', typed('object', delimited(30, flag(1)))),
    property('closed', typed('object', delimited(30, Buffer.alloc(0)))),
    property('preset', typed('boolean', delimited(8, json(false)), delimited(20, json('a')), delimited(20, json(1)))),
    property('apply', typed('array', text(42, 'set'))),
  );
  const version = Buffer.concat([text(1, 'v1'), delimited(4, delimited(1, schema))]);
  const definition = Buffer.concat([delimited(2, delimited(7, version))]);
  const type = Buffer.concat([text(1, 'apiextensions.k8s.io/v1'), text(2, 'CustomResourceDefinition')]);
  const body = Buffer.concat([Buffer.from('k8s\0'), delimited(1, type), delimited(2, definition)]);
  const decoded = bodies.decode(body, { apiVersion: 'wrong', kind: 'Wrong' }) as any;
  expect(bodies.decode(replied(decoded), { apiVersion: 'wrong', kind: 'Wrong' })).toEqual(decoded);
  expect(decoded.spec.versions[0].schema.openAPIV3Schema).toEqual({
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'string' } },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      open: { type: 'object', additionalProperties: true },
      closed: { type: 'object', additionalProperties: false },
      preset: { type: 'boolean', default: false, enum: ['a', 1] },
      apply: { type: 'array', 'x-kubernetes-list-type': 'set' },
    },
  });
});

it('a zero that a client has set stays one: an integer that could also be a text', () => {
  const deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } },
    spec: { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } },
  };
  expect(bodies.decode(replied(deployment), { apiVersion: 'wrong', kind: 'Wrong' })).toEqual(deployment);
});

describe('a body', () => {
  const expected = { apiVersion: 'v1', kind: 'ConfigMap' };
  const magic = Buffer.from('k8s\0');
  const body = (...fields: Buffer[]) => Buffer.concat([magic, ...fields]);
  const raw = (...fields: Buffer[]) => delimited(2, Buffer.concat(fields));

  it('that does not say what it is, is what the path takes', () => {
    const metadata = delimited(1, text(1, 'a'));
    expect(bodies.decode(body(raw(metadata)), expected)).toEqual({ ...expected, metadata: { name: 'a' } });
  });

  it('can hold fields that nobody knows, in every type', () => {
    const unknown = [
      integer(99, 1),
      text(98, 'x'),
      Buffer.concat([varint(97n * 8n + 1n), Buffer.alloc(8)]),
      Buffer.concat([varint(96n * 8n + 5n), Buffer.alloc(4)]),
    ];
    expect(bodies.decode(body(raw(...unknown), integer(9, 1)), expected)).toEqual(expected);
  });

  it('can hold packed numbers, and negative ones', () => {
    const context = (...fields: Buffer[]) => raw(delimited(2, delimited(14, Buffer.concat(fields))));
    const packed = delimited(4, Buffer.concat([varint(1000n), varint(2000n)]));
    const pod = { apiVersion: 'v1', kind: 'Pod' };
    expect(bodies.decode(body(context(packed)), pod)).toMatchObject({
      spec: { securityContext: { supplementalGroups: [1000, 2000] } },
    });
    expect(bodies.decode(body(context(integer(2, -5))), pod)).toMatchObject({
      spec: { securityContext: { runAsUser: -5 } },
    });
  });

  it('can hold more packed numbers than a function takes arguments', () => {
    const packed = delimited(4, Buffer.alloc(200_000, 1));
    const pod = bodies.decode(body(raw(delimited(2, delimited(14, packed)))), { apiVersion: 'v1', kind: 'Pod' }) as any;
    expect(pod.spec.securityContext.supplementalGroups).toHaveLength(200_000);
  });

  it.each([
    ['no magic', Buffer.from('{}'), 'does not appear to be a protobuf message'],
    ['a kind that is not served', body(delimited(1, text(2, 'Nope'))), 'no kind "Nope" is registered'],
    ['a message that is cut off', body(Buffer.from([0x12, 50])), 'ends in the middle of a field'],
    ['a text where a message belongs', body(raw(integer(1, 5))), 'a field has type 0, not 2'],
    ['a number without an end', body(Buffer.alloc(12, 0xff)), 'a number is too long'],
    ['a field with the number 0', body(Buffer.from([0x00, 0x00])), 'a field has the number 0'],
    ['a type that there is not', body(raw(varint(99n * 8n + 7n))), 'fields of type 7 are not known'],
    ['a text that is none', body(raw(delimited(1, delimited(1, Buffer.from([0xff]))))), 'not valid UTF-8'],
    ['a key that no object may have', body(raw(delimited(2, text(1, '__proto__')))), '"__proto__" is not allowed'],
    ['a time out of range', body(raw(delimited(1, delimited(8, integer(1, 1e15))))), 'a time is out of range'],
  ])('with %s is rejected', (_, bytes, message) => {
    expect(() => bodies.decode(bytes, expected)).toThrow(DecodeError);
    expect(() => bodies.decode(bytes, expected)).toThrow(message);
  });

  it('of any bytes is read, or rejected in words', () => {
    const kinds = fc.constantFrom(...versions.map(({ apiVersion, kind }) => ({ apiVersion, kind })));
    fc.assert(
      fc.property(kinds, fc.uint8Array({ maxLength: 200 }), (asked, bytes) => {
        try {
          bodies.decode(body(delimited(2, Buffer.from(bytes))), asked);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
