/** Data derived from the schema of a custom kind is released with its definition. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { bytesUsed } from '../../../../test/support/heap.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';

const DEFINITIONS = { apiVersion: 'apiextensions.k8s.io/v1', namespace: '' };
const GROUP = 'wide.example.com';
const THINGS = { apiVersion: `${GROUP}/v1`, namespace: '' };
const FIELDS = 5_000;
/** Limit for retained memory: the store keeps the last bytes for a while. A schema with derived data takes more. */
const MAX_LEFT_BYTES = 2_500_000;

let api: TestServer;
afterEach(() => api.server.close());

const texts = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, 'a']));

/** Defines a kind with many fields, writes an object of it, and deletes the definition. */
async function useAndDelete(plural: string): Promise<void> {
  const properties = Object.fromEntries(
    Object.keys(texts(FIELDS)).map((name) => [name, { type: 'string', maxLength: 3 }]),
  );
  const spec = { type: 'object', properties, 'x-kubernetes-validations': [{ rule: 'has(self.field1)' }] };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const name = `${plural}.${GROUP}`;
  const definition = {
    metadata: { name },
    spec: { group: GROUP, scope: 'Cluster', names: { plural, kind: plural }, versions },
  };
  await api.create('customresourcedefinitions', definition, DEFINITIONS);
  const isServed = () => api.server.registry.resource(THINGS.apiVersion, plural) !== undefined;
  while (!isServed()) await nextTurn();
  await api.create(plural, { metadata: { name: 'a' }, spec: texts(10) }, THINGS);
  await api.delete('customresourcedefinitions', name, DEFINITIONS);
  while (isServed()) await nextTurn();
  // The history is trimmed on the next change.
  await api.clock.advance(100_000);
  await api.create('namespaces', { metadata: { name: plural } }, { namespace: '' });
}

it('releases the memory of a deleted definition', async () => {
  api = await testServer([Namespace, CustomResourceDefinition]);
  await useAndDelete('first');
  const before = bytesUsed();
  const count = 5;
  for (let i = 0; i < count; i++) await useAndDelete(`thing${i}`);
  expect((bytesUsed() - before) / count).toBeLessThan(MAX_LEFT_BYTES);
});
