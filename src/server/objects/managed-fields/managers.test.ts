import { beforeAll, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

const dataOf = (count: number, value = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, value]));
const config = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const applyBy = (fieldManager: string) => ({ patchType: 'apply', options: { fieldManager } }) as const;
const entry = (manager: string, fieldsV1: unknown) => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
});

describe('objects with very many fields', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await testServer([Namespace, ConfigMap]);
  });

  it('have no managers', async () => {
    const created = await server.create('configmaps', { metadata: { name: 'large' }, data: dataOf(10_001) });
    expect(created.metadata.managedFields).toBeUndefined();
  });

  it('lose their managers when they grow beyond the limit', async () => {
    await server.create('configmaps', { metadata: { name: 'grown' }, data: { a: 'b' } });
    const patched = await server.patch('configmaps', 'grown', { data: dataOf(10_000) });
    expect(patched.metadata.managedFields).toBeUndefined();
  });

  it('cannot be applied, nor applied to', async () => {
    const tooLarge = { reason: 'RequestEntityTooLarge', message: expect.stringContaining('more than 10000 fields') };
    const large = config('applied', dataOf(10_000));
    await expect(server.patch('configmaps', 'applied', large, applyBy('one'))).rejects.toMatchObject(tooLarge);
    await server.create('configmaps', { metadata: { name: 'live' }, data: dataOf(10_000) });
    const small = config('live', { a: 'b' });
    await expect(server.patch('configmaps', 'live', small, applyBy('one'))).rejects.toMatchObject(tooLarge);
  });

  it('are counted before anything else is looked at, which would take longer', async () => {
    const wrong = { ...config('counted', dataOf(10_000)), undeclared: true };
    await expect(server.patch('configmaps', 'counted', wrong, applyBy('one'))).rejects.toMatchObject({
      reason: 'RequestEntityTooLarge',
    });
  });

  it('cannot be applied to when their managers together own too many fields', async () => {
    const large = config('shared', dataOf(7_000));
    await server.patch('configmaps', 'shared', large, applyBy('one'));
    await server.patch('configmaps', 'shared', large, applyBy('two'));
    await expect(server.patch('configmaps', 'shared', large, applyBy('three'))).rejects.toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: expect.stringContaining('own at most 15000 fields together'),
    });
    const { items } = await server.list('configmaps');
    expect(items.length).toBeGreaterThan(0);
  });

  it('have conflicts of which the first thousand are named', async () => {
    await server.patch('configmaps', 'disputed', config('disputed', dataOf(2_000)), applyBy('one'));
    const other = config('disputed', dataOf(2_000, 'x'));
    const rejected = server.patch('configmaps', 'disputed', other, applyBy('two'));
    await expect(rejected).rejects.toMatchObject({
      message: expect.stringMatching(/^Apply failed with 2000 conflicts: /),
      details: { causes: { length: 1_000 } },
    });
  });
});

describe('managers from a client', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await testServer([Namespace, ConfigMap]);
  });

  const created = async (name: string, managedFields: unknown[]) => {
    const { metadata } = await server.create('configmaps', { metadata: { name, managedFields }, data: { a: 'b' } });
    return metadata.managedFields.map(({ manager }: { manager: string }) => manager);
  };

  it('are ignored when they own too many fields', async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f:k${i}`, {}] as const));
    expect(await created('few', [entry('sent', { 'f:data': fields(10) })])).toContain('sent');
    expect(await created('many', [entry('sent', { 'f:data': fields(15_000) })])).not.toContain('sent');
  });

  it('are ignored when an item is not a scalar, which could be nested without end', async () => {
    const deep = (leaf: string) => `v:${'['.repeat(50_000)}${leaf}${']'.repeat(50_000)}`;
    const fields = { 'f:metadata': { 'f:finalizers': { [deep('1')]: {}, [deep('2')]: {} } } };
    expect(await created('deep', [entry('sent', fields)])).not.toContain('sent');
    const keys = `k:{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(await created('deep-keys', [entry('sent', { 'f:data': { [keys]: {} } })])).not.toContain('sent');
  });

  it('are merged in linear time', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => entry(`manager-${i}`, { 'f:data': { [`f:k${i}`]: {} } }));
    await created('warm', many(500));
    const cost = async (name: string, count: number) => {
      const before = process.cpuUsage();
      await created(name, many(count));
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const small = await cost('small', 900);
    expect((await cost('ten-times', 9_000)) / small).toBeLessThan(40);
  });
});
