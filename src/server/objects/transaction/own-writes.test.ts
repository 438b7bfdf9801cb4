import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ApiError } from '../../../api/errors.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { AdmissionPlugin } from '../../operations/admission/plugin.ts';
import type { Mutation } from './draft.ts';
import { type OwnWrite, writeOwn } from './own-writes.ts';
import type { TransactionPorts } from './ports.ts';

let api: TestServer;
let core: TransactionPorts;

/** Rejects everything but one object, to expose the server's core to the test. */
const guard: AdmissionPlugin = {
  name: 'Guard',
  handles: (kind) => kind === ConfigMap || kind === Service,
  validate(its, { name }) {
    core = its as unknown as TransactionPorts;
    if (name !== 'first') throw new ApiError('Forbidden', 'no');
  },
};

beforeEach(async () => {
  api = await testServer([Namespace, ConfigMap, Service], { admission: [guard] });
  await api.create('configmaps', { metadata: { name: 'first' }, data: { a: '1' } });
});

const withoutAdmission = 'this is a test';
const write = (name: string, mutation: Mutation, kind = ConfigMap as OwnWrite['kind']): OwnWrite => ({
  kind,
  namespace: 'default',
  name,
  mutation,
});
const create = (name: string, more: object = {}, kind?: OwnWrite['kind']) =>
  write(name, { type: 'create', object: () => ({ metadata: { name }, ...more }) as never }, kind);
const update = (name: string, more: object) =>
  write(name, {
    type: 'update',
    part: 'object',
    next: (current) => ({ ...current.hub(ConfigMap), ...more }) as never,
  });
const entry = (name: string) => core.cache.table(ConfigMap).get('default', name);

/** A plan for objects that should exist. */
const missing = (...names: string[]) =>
  names.filter((name) => !entry(name)).map((name) => create(name, { kind: 'ConfigMap', apiVersion: 'v1' }));

describe('own writes', () => {
  it('are committed together and without admission', async () => {
    await writeOwn(core, { withoutAdmission, plan: () => missing('a', 'b') });
    const [a, b] = [await api.get('configmaps', 'a'), await api.get('configmaps', 'b')];
    expect(a.metadata).toMatchObject({ name: 'a', namespace: 'default', uid: expect.any(String) });
    expect(a.metadata.resourceVersion).toBe(b.metadata.resourceVersion);
  });

  it('get addresses and an initial status like the objects of clients', async () => {
    const spec = { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], type: 'ClusterIP', sessionAffinity: 'None' };
    const isMissing = () => !core.cache.table(Service).get('default', 's');
    const service = create('s', { kind: 'Service', apiVersion: 'v1', spec }, Service);
    await writeOwn(core, { withoutAdmission, plan: () => (isMissing() ? [service] : []) });
    const made = await api.get('services', 's');
    expect(made.spec.clusterIP).toMatch(/^10\./);
    expect(made.status).toEqual({ loadBalancer: {} });
  });

  it('are split when they exceed one commit', async () => {
    const names = Array.from({ length: 250 }, (_, index) => `n-${index}`);
    const marker = { key: '/quarterdeck/test', value: Buffer.from('done') };
    await writeOwn(core, { withoutAdmission, plan: () => missing(...names), marker });
    expect((await api.list('configmaps')).items).toHaveLength(251);
    const last = await api.get('configmaps', 'n-249');
    const row = await api.store.get(marker.key);
    expect(String(row?.revision)).toBe(last.metadata.resourceVersion);
  });

  it('are dropped when they change nothing, so that a plan may repeat them', async () => {
    const before = await api.store.revision();
    await writeOwn(core, { withoutAdmission, plan: () => [update('first', { data: { a: '1' } })] });
    expect(await api.store.revision()).toBe(before);
  });

  it('may change one object twice, one after the other', async () => {
    const wants = (key: string) => {
      const data = (entry('first')!.hub(ConfigMap) as ConfigMap).data ?? {};
      return key in data ? [] : [update('first', { data: { ...data, [key]: 'x' } })];
    };
    await writeOwn(core, { withoutAdmission, plan: () => [...wants('b'), ...wants('c')] });
    expect((await api.get('configmaps', 'first')).data).toEqual({ a: '1', b: 'x', c: 'x' });
  });

  it('are dropped when they are invalid, and the others are written', async () => {
    const invalid = create('bad', { kind: 'ConfigMap', apiVersion: 'v1', data: { 'not a key': '1' } });
    await writeOwn(core, { withoutAdmission, plan: () => [invalid, ...missing('good')] });
    expect(entry('good')).toBeDefined();
    expect(entry('bad')).toBeUndefined();
  });

  it('are planned again after a conflict', async () => {
    let isFirst = true;
    const plan = () => {
      const writes = missing('a', 'b');
      if (isFirst) {
        isFirst = false;
        const value = Buffer.from(
          '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b","namespace":"default"}}',
        );
        void api.store.commit([{ key: '/registry/core/configmaps/default/b', value }]);
      }
      return writes;
    };
    await writeOwn(core, { withoutAdmission, plan });
    expect(entry('a')).toBeDefined();
    expect((await api.get('configmaps', 'b')).metadata.uid).toBeUndefined();
  });
});
