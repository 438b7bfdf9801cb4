import { expect, test } from 'vitest';
import { allKinds } from '../../../../kinds/all.ts';
import type { Row } from '../../../../store/store.ts';
import { otherVersions } from './inspect.ts';

const row = (key: string, value: object | string): Row => ({
  key: `/registry/${key}`,
  revision: 1,
  value: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});

test('objects of another version than the stored one are counted by kind and version', () => {
  const deployment = (name: string, apiVersion: string) =>
    row(`apps/deployments/default/${name}`, { apiVersion, kind: 'Deployment', metadata: { name } });
  const rows = [
    deployment('a', 'apps/v1'),
    deployment('b', 'apps/v1beta2'),
    deployment('c', 'apps/v1beta2'),
    row('core/configmaps/default/damaged', '{'),
    row('example.com/unknown/default/x', { apiVersion: 'example.com/v1', kind: 'Unknown' }),
  ];
  expect(otherVersions(rows, allKinds)).toEqual([
    { kind: 'Deployment', from: 'apps/v1beta2', to: 'apps/v1', count: 2 },
  ]);
});

test('a custom kind says by itself which version is stored', () => {
  const versions = [
    { name: 'v1', storage: false },
    { name: 'v2', storage: true },
  ];
  const definition = row('apiextensions.k8s.io/customresourcedefinitions/boats.example.com', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { group: 'example.com', names: { plural: 'boats' }, versions },
  });
  const boat = row('example.com/boats/default/a', { apiVersion: 'example.com/v1', kind: 'Boat' });
  expect(otherVersions([definition, boat], allKinds)).toEqual([
    { kind: 'Boat', from: 'example.com/v1', to: 'example.com/v2', count: 1 },
  ]);
});
