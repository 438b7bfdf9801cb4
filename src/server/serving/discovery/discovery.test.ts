import { expect, it } from 'vitest';
import { smallRegistry } from '../../../../test/support/http-server.ts';
import { allKinds } from '../../../kinds/all.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { defineKind, splitApiVersion } from '../../../kinds/kind.ts';
import { Registry } from '../../objects/registry/registry.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import { BackendRegistry } from '../backends/backend-registry.ts';
import { Discovery, type VersionInfo } from './discovery.ts';

const version = { gitVersion: 'v1.36.4+quarterdeck' } as VersionInfo;
const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: 'host:6443' }];

function discovery(registry = smallRegistry()) {
  return new Discovery({ backends: new BackendRegistry(registry), version, serverAddress: () => 'host:6443' });
}

it('lists the core versions', () => {
  expect(discovery().document('/api')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: addresses,
  });
});

it('lists groups with their preferred versions, extensions last', () => {
  const registry = smallRegistry();
  for (const group of ['zoo.example.com', 'batch', 'storage.k8s.io']) {
    registry.add(
      defineKind({
        kind: 'Thing',
        scope: 'Cluster',
        description: '',
        fields: {},
        versions: { [`${group}/v2alpha1`]: {}, [`${group}/v1beta1`]: {}, [`${group}/v1`]: {} },
      }),
    );
  }
  const { groups } = discovery(registry).document('/apis') as { groups: { name: string }[] };
  expect(groups.map(({ name }) => name)).toEqual(['apps', 'batch', 'storage.k8s.io', 'zoo.example.com', 'extensions']);
  expect(groups[1]).toEqual({
    name: 'batch',
    versions: [
      { groupVersion: 'batch/v1', version: 'v1' },
      { groupVersion: 'batch/v1beta1', version: 'v1beta1' },
      { groupVersion: 'batch/v2alpha1', version: 'v2alpha1' },
    ],
    preferredVersion: { groupVersion: 'batch/v1', version: 'v1' },
    serverAddressByClientCIDRs: addresses,
  });
  expect(discovery(registry).document('/apis/batch')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...groups[1] });
});

it('lists resources with their subresources', () => {
  const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  const document = discovery().document('/apis/apps/v1beta1');
  expect(document).toEqual({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'apps/v1beta1',
    resources: [
      {
        name: 'deployments',
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: all,
        shortNames: ['deploy'],
        categories: ['all'],
        storageVersionHash: '8aSe+NMegvE=',
      },
      {
        name: 'deployments/rollback',
        singularName: '',
        namespaced: true,
        kind: 'DeploymentRollback',
        verbs: ['create'],
      },
      {
        name: 'deployments/scale',
        singularName: '',
        namespaced: true,
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
      {
        name: 'deployments/status',
        singularName: '',
        namespaced: true,
        kind: 'Deployment',
        verbs: ['get', 'patch', 'update'],
      },
    ],
  });
});

it('identifies the stored version of stored kinds', () => {
  const registry = smallRegistry();
  registry.add(
    defineKind({
      kind: 'Thing',
      scope: 'Cluster',
      description: '',
      fields: {},
      versions: { 'zoo.example.com/v1beta1': {}, 'zoo.example.com/v1': {} },
    }),
  );
  const live = discovery(registry);
  const hashOf = (path: string, plural: string) =>
    (live.document(path) as { resources: any[] }).resources.find(({ name }) => name === plural).storageVersionHash;
  expect(hashOf('/api/v1', 'namespaces')).toBe('Q3oi5N2YM8M=');
  expect(hashOf('/api/v1', 'bindings')).toBeUndefined();
  const stored = hashOf('/apis/zoo.example.com/v1beta1', 'things');
  expect(stored).toMatch(/^[\w+/]{11}=$/);
  expect(hashOf('/apis/zoo.example.com/v1', 'things')).toBe(stored);
});

it('shows the group and version of subresource kinds', () => {
  const rows = (path: string) =>
    new Map((discovery().document(path) as { resources: any[] }).resources.map((row) => [row.name, row]));
  expect(rows('/apis/apps/v1').get('deployments/scale')).toMatchObject({
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
  });
  expect(rows('/apis/apps/v1').has('deployments/rollback')).toBe(false);
  expect(rows('/api/v1').get('pods/eviction')).toMatchObject({ group: 'policy', version: 'v1', kind: 'Eviction' });
  expect(rows('/api/v1').get('pods/binding')).toMatchObject({ kind: 'Binding', verbs: ['create'] });
  expect(rows('/api/v1').get('bindings')).toMatchObject({ verbs: ['create'] });
  expect(rows('/api/v1').get('namespaces').verbs).not.toContain('deletecollection');
  expect(rows('/api/v1').get('namespaces')).toMatchObject({ namespaced: false, shortNames: ['ns'] });
});

it('shows clients of aggregated discovery short names only in the current group of a kind', () => {
  const live = discovery(new Registry([Deployment], allSubresources));
  const { items } = live.aggregated('/apis', 'v2') as any;
  const named = items.map(({ metadata, versions }: any) => [metadata.name, versions[0].resources[0].shortNames]);
  expect(named).toEqual([
    ['apps', ['deploy']],
    ['extensions', undefined],
  ]);
});

it('lists the categories of every kind in only one group, so that clients show an object once', () => {
  const registry = new Registry(allKinds, allSubresources);
  const live = discovery(registry);
  const [apis, core] = ['/apis', '/api'].map((path) => live.aggregated(path, 'v2') as any);
  const aggregated = [...core.items, ...apis.items].flatMap(({ metadata, versions }: any) =>
    versions.flatMap(({ version: name, resources }: any) =>
      resources.map((row: any) => ({ ...row, group: metadata.name ?? '', name, plural: row.resource })),
    ),
  );
  const plain = [...registry.apiVersions].flatMap((apiVersion) => {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const [group] = splitApiVersion(apiVersion);
    const { resources } = live.document(path) as { resources: any[] };
    return resources.map((row) => ({ ...row, group, plural: row.name }));
  });
  for (const rows of [aggregated, plain]) {
    const groups = new Map<string, Set<string>>();
    for (const { plural, group, categories } of rows) {
      if (!categories) continue;
      groups.set(plural, (groups.get(plural) ?? new Set()).add(group));
    }
    expect(groups.get('deployments')).toEqual(new Set(['apps']));
    expect([...groups].filter(([, found]) => found.size > 1)).toEqual([]);
  }
});

it('lists only supported subresources', () => {
  const { resources } = discovery().document('/api/v1') as { resources: { name: string }[] };
  const names = resources.map(({ name }) => name).filter((name) => name.startsWith('pods/'));
  expect(names).toEqual(['pods/binding', 'pods/eviction', 'pods/log', 'pods/status']);
});

it.each(['v2', 'v2beta1'])('shows everything at once in %s', (form) => {
  const live = discovery();
  const apis = live.aggregated('/apis', form) as any;
  expect(apis).toMatchObject({
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${form}`,
    metadata: {},
  });
  const versions = apis.items.map((item: any) => [
    item.metadata.name,
    ...item.versions.map((each: any) => each.version),
  ]);
  expect(versions).toEqual([
    ['apps', 'v1', 'v1beta1'],
    ['extensions', 'v1beta1'],
  ]);
  const verbs = ['get', 'patch', 'update'];
  expect(apis.items[0].versions[0]).toEqual({
    version: 'v1',
    resources: [
      {
        resource: 'deployments',
        responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
        scope: 'Namespaced',
        singularResource: 'deployment',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['deploy'],
        categories: ['all'],
        subresources: [
          { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs },
          { subresource: 'status', responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' }, verbs },
        ],
      },
    ],
    freshness: 'Current',
  });
  expect(live.aggregated('/apis', form)).toBe(apis);
  const core = live.aggregated('/api', form) as any;
  expect(core.items).toMatchObject([{ metadata: {}, versions: [{ version: 'v1' }] }]);
  expect(live.aggregated('/apis/apps', form)).toBeUndefined();
});

it('omits the version of the document where it was never present', () => {
  expect(discovery().document('/api/v1')).not.toHaveProperty('apiVersion');
  expect(discovery().document('/apis/extensions/v1beta1')).not.toHaveProperty('apiVersion');
  expect(discovery().document('/apis')).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
});

it('lists its paths', () => {
  expect(discovery().document('')).toEqual({
    paths: [
      '/.well-known/openid-configuration',
      '/api',
      '/api/v1',
      '/apis',
      '/apis/apps',
      '/apis/apps/v1',
      '/apis/apps/v1beta1',
      '/apis/extensions',
      '/apis/extensions/v1beta1',
      '/healthz',
      '/livez',
      '/metrics',
      '/metrics/slis',
      '/openapi/v2',
      '/openapi/v3',
      '/openid/v1/jwks',
      '/readyz',
      '/version',
    ],
  });
  expect(discovery().document('/version')).toBe(version);
});

it.each([
  '/apis/nope',
  '/apis/apps/v9',
  '/api/v2',
  '/nope',
  '/version/more',
  '/api/v1/pods',
  '/apis/',
  '/apis/__proto__',
])('serves nothing at %s', (path) => {
  expect(discovery().document(path)).toBeUndefined();
});

it('follows the backends', () => {
  const registry = smallRegistry();
  const live = discovery(registry);
  const before = live.document('/apis');
  expect(live.aggregated('/apis', 'v2')).toMatchObject({ items: [{}, {}] });
  expect(live.document('/apis')).toBe(before);
  registry.remove(registry.resource('apps/v1', 'deployments')!.kind);
  expect(live.document('/apis')).toEqual({ kind: 'APIGroupList', apiVersion: 'v1', groups: [] });
  expect(live.aggregated('/apis', 'v2')).toMatchObject({ items: [] });
});
