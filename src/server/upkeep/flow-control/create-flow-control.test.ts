import { beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import { defaultLevels, defaultSchemas } from '../../access/fairness/defaults.ts';

const kinds = [Namespace, FlowSchema, PriorityLevelConfiguration];
const AT = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', namespace: '' };
const MERGE = { ...AT, patchType: 'merge' } as const;
const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec';
const flowControl = { priorityAndFairness: true, maxReading: 400, maxMutating: 200, requestTimeoutMs: 60_000 };
const LEVELS = 'prioritylevelconfigurations';

let world: TestServer;

beforeEach(async () => {
  world = await testServer(kinds, { flowControl });
});

const again = () => testServer(kinds, { flowControl, store: world.store, clock: world.clock });

/** Waits until the server has reacted to a change. */
async function until<T>(read: () => Promise<T>, condition: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await read();
    if (condition(found)) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const dangling = (schema: any) => schema.status.conditions?.find(({ type }: any) => type === 'Dangling');

it('creates every default object, as if a client had sent it', async () => {
  for (const [name, spec] of defaultSchemas) {
    const found = await world.get('flowschemas', name, AT);
    expect(found).toMatchObject({ spec, metadata: { generation: 1, annotations: { [AUTOUPDATE]: 'true' } } });
    expect(dangling(found)).toMatchObject({ status: 'False', reason: 'Found' });
    const sent = await world.update('flowschemas', found, { ...AT, name });
    expect(sent.metadata.resourceVersion).toBe(found.metadata.resourceVersion);
  }
  for (const [name, spec] of defaultLevels) {
    const found = await world.get(LEVELS, name, AT);
    expect(found.spec).toEqual(spec);
    const sent = await world.update(LEVELS, found, { ...AT, name });
    expect(sent.metadata.resourceVersion).toBe(found.metadata.resourceVersion);
  }
});

it('writes nothing when everything is up to date', async () => {
  const before = await world.store.revision();
  await again();
  expect(await world.store.revision()).toBe(before);
});

it('recreates deleted objects', async () => {
  const { uid } = (await world.get('flowschemas', 'catch-all', AT)).metadata;
  await world.delete('flowschemas', 'catch-all', AT);
  const look = () => world.get('flowschemas', 'catch-all', AT).catch(() => undefined);
  const found = await until(look, (object) => object !== undefined);
  expect(found.metadata.uid).not.toBe(uid);
});

it('restores objects that follow the defaults, and leaves the others alone', async () => {
  const shares = { spec: { limited: { nominalConcurrencyShares: 77 } } };
  await world.patch(LEVELS, 'system', shares, MERGE);
  const restored = await until(
    () => world.get(LEVELS, 'system', AT),
    ({ spec }) => spec.limited.nominalConcurrencyShares === 30,
  );
  expect(restored.metadata.annotations[AUTOUPDATE]).toBe('true');
  await world.patch(LEVELS, 'system', { metadata: { annotations: { [AUTOUPDATE]: 'false' } }, ...shares }, MERGE);
  await again();
  expect((await world.get(LEVELS, 'system', AT)).spec.limited.nominalConcurrencyShares).toBe(77);
});

it('sets the condition Dangling of every schema', async () => {
  const rule = {
    subjects: [{ kind: 'User', user: { name: 'x' } }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
  };
  const spec = { priorityLevelConfiguration: { name: 'mine' }, rules: [rule] };
  await world.create('flowschemas', { metadata: { name: 'mine' }, spec }, AT);
  const look = () => world.get('flowschemas', 'mine', AT);
  const missing = await until(look, (schema) => dangling(schema)?.status === 'True');
  expect(dangling(missing).message).toBe(
    'This FlowSchema references the PriorityLevelConfiguration object named "mine" but there is no such object',
  );
  const limited = { limitResponse: { type: 'Reject' } };
  await world.create(LEVELS, { metadata: { name: 'mine' }, spec: { type: 'Limited', limited } }, AT);
  await until(look, (schema) => dangling(schema)?.status === 'False');
});
