/** Tests that no hook and no rule of any kind changes the parts that a patch shares with the stored object. */
import { expect, test } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { testServer } from '../support/server.ts';

const patchable = allKinds.filter(({ verbs }) => verbs === undefined || verbs.includes('patch'));

test.each(patchable.map((kind) => [kind.kind, kind] as const))(
  'a label patch of a %s keeps the rest',
  async (_, kind) => {
    const api = await testServer(allKinds);
    const { apiVersion: _ignored, kind: _kind, ...body } = exampleOf(kind);
    const namespace = kind.scope === 'Namespaced' ? 'default' : undefined;
    const at: any = { apiVersion: kind.hub.apiVersion, namespace };
    const { name } = body.metadata;
    const made = await api.create(
      kind.plural,
      { metadata: { ...body.metadata, namespace: undefined }, ...without(body) },
      at,
    );
    for (const patchType of ['merge', 'strategic'] as const) {
      const patched = await api.patch(
        kind.plural,
        name,
        { metadata: { labels: { by: patchType } } },
        { ...at, patchType },
      );
      expect(patched.metadata.labels.by).toBe(patchType);
      expect(without(patched)).toEqual(without(made));
    }
    const { apiVersion } = kind.hub;
    const config = { apiVersion, kind: kind.kind, metadata: { name, labels: { by: 'apply' } } };
    const options = { fieldManager: 'me', force: true };
    const applied = await api.patch(kind.plural, name, config, { ...at, patchType: 'apply', options });
    expect(without(applied)).toEqual(without(made));
    expect(applied.metadata.managedFields[0].fieldsV1).toEqual({ 'f:metadata': { 'f:labels': { 'f:by': {} } } });
    if (!kind.subresources?.status) return;
    const status = { ...at, subresource: 'status' };
    const patched = await api.patch(kind.plural, name, { metadata: { annotations: { seen: 'yes' } } }, status);
    expect(patched.metadata.annotations?.seen).toBe('yes');
    expect(without(patched)).toEqual(without(made));
  },
);

function without({ metadata: _, ...rest }: any): any {
  return rest;
}
