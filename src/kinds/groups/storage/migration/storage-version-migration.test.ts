import { expect, test } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { Namespace } from '../../core/namespace.ts';
import { StorageVersionMigration } from './storage-version-migration.ts';

const apiVersion = 'storagemigration.k8s.io/v1beta1';
const PLURAL = 'storageversionmigrations';
const specOf = (group: string, resource: string) => ({ resource: { group, resource } });

test('a migration names a resource, and cannot be changed', async () => {
  const api = await testServer([Namespace, StorageVersionMigration]);
  const create = (spec: object) => api.create(PLURAL, { metadata: { name: 'a' }, spec }, { apiVersion, namespace: '' });
  await expect(create(specOf('', ''))).rejects.toThrow(
    'spec.resource.resource: Required value: resource is required to be set',
  );
  await expect(create(specOf('Apps', '1x'))).rejects.toThrow('spec.resource.group: Invalid value');
  const created = await create(specOf('apps', 'deployments'));
  expect(created.status).toEqual({});
  const call = { apiVersion, plural: PLURAL, name: 'a', user: { name: 'u', groups: [] } };
  const changed = { ...(created as object), spec: specOf('', 'pods') };
  const update = (body: object, subresource?: string) =>
    api.server.handle({ ...call, verb: 'update', body, ...(subresource ? { subresource } : {}) });
  await expect(update(changed)).rejects.toThrow('field is immutable');
  const condition = (type: string) => ({
    ...{ type, status: 'True', reason: 'Any', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
  });
  const withStatus = async (status: object) =>
    update({ ...(created as object), metadata: { name: 'a', resourceVersion: await newest() }, status }, 'status');
  const newest = async () =>
    ((await api.server.handle({ ...call, verb: 'get' })) as any).item.object.metadata.resourceVersion as string;
  await expect(withStatus({ resourceVersion: 'x' })).rejects.toThrow('status.resourceVersion: Invalid value: "x"');
  await expect(withStatus({ conditions: [condition('Succeeded'), condition('Failed')] })).rejects.toThrow(
    'Both success and failed conditions cannot be true at the same time',
  );
  await withStatus({ resourceVersion: '5', conditions: [condition('Succeeded')] });
  await expect(withStatus({ resourceVersion: '6', conditions: [condition('Succeeded')] })).rejects.toThrow(
    'status.resourceVersion: Invalid value: "6": field is immutable',
  );
  await expect(withStatus({ resourceVersion: '5' })).rejects.toThrow('Success condition cannot be set to false');
});
