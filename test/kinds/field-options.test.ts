/**
 * Tests nulls, empty values, unknown fields and ownership that a kind keeps, from a request to the stored object and
 * back.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { RequestNotes } from '../../src/api/call.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { s } from '../../src/schema/builders.ts';
import { type Asked, type TestServer, testServer } from '../support/server.ts';

const Widget = defineKind({
  kind: 'Widget',
  scope: 'Namespaced',
  description: 'A kind with every field option.',
  versions: { 'example.com/v1': {}, 'example.com/v1beta1': {} },
  fields: {
    spec: s.object(
      'WidgetSpec',
      {
        note: s.string({ nullable: true, default: 'preset' }),
        list: s.list(s.string(), { keepEmpty: true }),
        dropped: s.list(s.string()),
        size: s.int64(),
      },
      { preserveUnknown: true },
    ),
  },
});

const widgets: Asked = { apiVersion: 'example.com/v1' };
const spec = { note: null, list: [], size: 9007199254740991, extra: { deep: [null, {}, []] }, gone: null };
const body = { metadata: { name: 'a' }, spec: { ...spec, dropped: [] } };

let api: TestServer;
beforeEach(async () => {
  api = await testServer([Widget, Namespace]);
});

describe('what a kind keeps', () => {
  it('is stored and read back, in every version', async () => {
    expect((await api.create('widgets', body, widgets)).spec).toEqual(spec);
    expect((await api.get('widgets', 'a', widgets)).spec).toEqual(spec);
    expect((await api.get('widgets', 'a', { apiVersion: 'example.com/v1beta1' })).spec).toEqual(spec);
  });

  it('is read back from the store by another server', async () => {
    await api.create('widgets', body, widgets);
    const other = await testServer([Widget, Namespace], { store: api.store });
    expect((await other.get('widgets', 'a', widgets)).spec).toEqual(spec);
  });

  it('is not warned of, nor rejected by strict validation', async () => {
    const notes = new RequestNotes();
    const call = { verb: 'create', plural: 'widgets', namespace: 'default', body } as const;
    const options = { fieldValidation: 'Strict' };
    await api.server.handle({ ...call, apiVersion: 'example.com/v1', options, user: { name: 'u', groups: [] } }, notes);
    expect(notes.warnings).toBeUndefined();
  });

  it('survives a replace and patches that touch other fields', async () => {
    const created = await api.create('widgets', body, widgets);
    expect((await api.update('widgets', created, widgets)).spec).toEqual(spec);
    for (const patchType of ['merge', 'strategic'] as const) {
      const patched = await api.patch('widgets', 'a', { spec: { size: 2 } }, { ...widgets, patchType });
      expect(patched.spec, patchType).toEqual({ ...spec, size: 2 });
    }
    const operations = [{ op: 'replace', path: '/spec/extra/deep/0', value: 1 }];
    const patched = await api.patch('widgets', 'a', operations, { ...widgets, patchType: 'json' });
    expect(patched.spec).toEqual({ ...spec, size: 2, extra: { deep: [1, {}, []] } });
  });

  it('is deleted by null in a merge patch', async () => {
    await api.create('widgets', body, widgets);
    const patched = await api.patch('widgets', 'a', { spec: { note: null, list: null, extra: null } }, widgets);
    expect(patched.spec).toEqual({ note: 'preset', size: spec.size, gone: null });
  });
});

describe('metadata.managedFields', () => {
  const managedFields = [
    {
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'example.com/v1',
      time: '2026-01-02T03:04:05Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { '.': {}, 'f:size': {} } },
      subresource: 'status',
    },
  ];

  it('of a client counts for nothing that the creator sets, and is taken over in an update', async () => {
    const created = await api.create('widgets', { ...body, metadata: { name: 'a', managedFields } }, widgets);
    expect(created.metadata.managedFields.map(({ manager }: any) => manager)).toEqual(['unknown']);
    const updated = await api.update(
      'widgets',
      { ...created, metadata: { ...created.metadata, managedFields } },
      widgets,
    );
    expect(updated.metadata).toMatchObject({ managedFields });
  });

  it('that is stored is shown in every version', async () => {
    await api.create('widgets', body, widgets);
    const { rows } = await api.store.list('');
    const row = rows.find(({ key }) => key.includes('widgets'))!;
    const object = JSON.parse(row.value.toString());
    const value = Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields } }));
    await api.store.commit([{ key: row.key, value }]);
    const other = await testServer([Widget, Namespace], { store: api.store });
    for (const apiVersion of ['example.com/v1', 'example.com/v1beta1']) {
      expect((await other.get('widgets', 'a', { apiVersion })).metadata.managedFields).toEqual(managedFields);
    }
  });
});
