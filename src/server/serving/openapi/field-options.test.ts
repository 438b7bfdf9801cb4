/** Nullable fields, preserved unknown fields and embedded objects are published as Kubernetes does it for CRDs. */
import { expect, it } from 'vitest';
import { defineKind } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';
import { Registry } from '../../objects/registry/registry.ts';
import { BackendRegistry } from '../backends/backend-registry.ts';
import { OpenApi } from './openapi.ts';

const Inner = s.object('Inner', { a: s.string() });
const Widget = defineKind({
  kind: 'Widget',
  scope: 'Namespaced',
  description: 'A kind with every field option.',
  versions: { 'example.com/v1': {} },
  fields: {
    spec: s.object('WidgetSpec', {
      note: s.string('May be null.', { nullable: true, required: true }),
      sizes: s.list(s.int32({ nullable: true }), { nullable: true }),
      inner: s.use(Inner, { nullable: true }),
      open: s.object('Open', { a: s.string({ zero: true }) }, { preserveUnknown: true }),
      object: s.object('Embedded', {}, { preserveUnknown: true, embedded: true }),
    }),
  },
});

async function schemas(path: string): Promise<any> {
  const document = await new OpenApi(new BackendRegistry(new Registry([Widget]))).document(path, undefined);
  const { definitions, components } = JSON.parse(String(document?.body));
  return definitions ?? components.schemas;
}

const NAME = 'com.example.v1';

it('OpenAPI 3 marks nullable fields', async () => {
  const { properties, required } = (await schemas('/openapi/v3/apis/example.com/v1'))[`${NAME}.WidgetSpec`];
  expect(required).toEqual(['note']);
  expect(properties.note).toEqual({ type: 'string', nullable: true, description: 'May be null.' });
  expect(properties.sizes).toMatchObject({
    type: 'array',
    nullable: true,
    items: { type: 'integer', nullable: true },
  });
  expect(properties.inner).toEqual({ allOf: [{ $ref: `#/components/schemas/${NAME}.Inner` }], nullable: true });
});

it('OpenAPI 3 marks objects that preserve unknown fields, and objects of the API', async () => {
  const all = await schemas('/openapi/v3/apis/example.com/v1');
  expect(all[`${NAME}.Open`]).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    'x-kubernetes-preserve-unknown-fields': true,
  });
  expect(all[`${NAME}.Embedded`]).toMatchObject({ 'x-kubernetes-embedded-resource': true });
  expect(all[`${NAME}.Inner`]).not.toHaveProperty('x-kubernetes-preserve-unknown-fields');
});

it('OpenAPI 2 gives nullable fields no type, and does not require them', async () => {
  const { properties, required } = (await schemas('/openapi/v2'))[`${NAME}.WidgetSpec`];
  expect(required).toBeUndefined();
  expect(properties.note).toEqual({ description: 'May be null.' });
  expect(properties.sizes).toEqual({ 'x-kubernetes-list-type': 'atomic' });
  expect(properties.inner).toEqual({});
});

it('OpenAPI 2 lists no fields of an object that preserves unknown ones: clients would reject all others', async () => {
  expect((await schemas('/openapi/v2'))[`${NAME}.Open`]).toEqual({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  });
});
