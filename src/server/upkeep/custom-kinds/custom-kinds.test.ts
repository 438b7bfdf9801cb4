/** Custom kinds are served while the server runs, like any other kind. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';

const GROUP = 'stable.example.com';
const NAME = `crontabs.${GROUP}`;
const CRD = { apiVersion: 'apiextensions.k8s.io/v1', namespace: '' };
const AT = { apiVersion: `${GROUP}/v1` };

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['cronSpec'],
      properties: {
        cronSpec: { type: 'string', pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$' },
        image: { type: 'string', default: 'busybox' },
        replicas: { type: 'integer', minimum: 1, maximum: 10 },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, port: { type: 'integer' } },
          },
        },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, labelSelector: { type: 'string' } } },
  },
};

const version = {
  ...{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.labelSelector',
    },
  },
  additionalPrinterColumns: [{ name: 'Spec', type: 'string', jsonPath: '.spec.cronSpec' }],
  selectableFields: [{ jsonPath: '.spec.image' }],
};

const definition = (changes: object = {}) => ({
  metadata: { name: NAME },
  spec: {
    ...{ group: GROUP, scope: 'Namespaced', versions: [version] },
    names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'] },
    ...changes,
  },
});

const tab = (name: string, spec: object = { cronSpec: '* * * * */5' }) => ({ metadata: { name }, spec });

let api: TestServer;

beforeEach(async () => {
  api = await testServer([Namespace, CustomResourceDefinition]);
});

afterEach(() => api.server.close());

async function condition(name: string, type: string, status = 'True'): Promise<any> {
  const watch = await api.watch('customresourcedefinitions', {
    ...CRD,
    options: { fieldSelector: `metadata.name=${name}` },
  });
  for (;;) {
    const [event] = await watch.next();
    if (!event) throw new Error('the watch has ended');
    const found = (event.object as any).status?.conditions?.find((each: any) => each.type === type);
    if (found?.status === status) {
      watch.stop();
      return event.object;
    }
  }
}

async function define(changes: object = {}): Promise<any> {
  await api.create('customresourcedefinitions', definition(changes), CRD);
  return condition(NAME, 'Established');
}

const redefine = (versions: readonly object[]) =>
  api.patch('customresourcedefinitions', NAME, { spec: { versions } }, CRD);

it('serves a kind once its names are accepted', async () => {
  const created = await api.create('customresourcedefinitions', definition(), CRD);
  expect(created.spec.names).toEqual({
    ...{ plural: 'crontabs', singular: 'crontab', kind: 'CronTab', listKind: 'CronTabList', shortNames: ['ct'] },
  });
  expect(created.spec.conversion).toEqual({ strategy: 'None' });
  expect(created.status.storedVersions).toEqual(['v1']);
  const served = await condition(NAME, 'Established');
  expect(served.status.acceptedNames).toEqual(created.spec.names);
  expect(served.status.conditions).toMatchObject([
    { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
  ]);
  const object = await api.create('crontabs', tab('a'), AT);
  expect(object).toMatchObject({ kind: 'CronTab', apiVersion: `${GROUP}/v1`, metadata: { generation: 1 } });
  expect(object.spec).toEqual({ cronSpec: '* * * * */5', image: 'busybox' });
  expect(object).not.toHaveProperty('status');
  const list = JSON.parse(String((await api.list('crontabs', AT)).json()));
  expect(list).toMatchObject({ kind: 'CronTabList', items: [{ kind: 'CronTab', apiVersion: `${GROUP}/v1` }] });
});

it('drops fields that the schema does not describe, and reports them', async () => {
  await define();
  const body = { ...tab('a'), extra: 1, spec: { cronSpec: '1 1 1 1 1', other: true } };
  const notes = await api.notes('create', 'crontabs', { ...AT, body });
  expect(notes.warnings).toEqual(['unknown field "spec.other"', 'unknown field "extra"']);
  expect((await api.get('crontabs', 'a', AT)).spec).toEqual({ cronSpec: '1 1 1 1 1', image: 'busybox' });
});

it('validates the metadata of embedded objects, whatever the schema says about it', async () => {
  const template = {
    ...{ type: 'object', 'x-kubernetes-embedded-resource': true },
    properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } }, spec: { type: 'object' } },
  };
  const properties = { spec: { type: 'object', properties: { template } } };
  const openAPIV3Schema = { type: 'object', properties };
  await define({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] });
  const known = { name: 'inner', namespace: 'default', labels: { app: 'a' } };
  const body = tab('a', {
    template: { apiVersion: 'v1', kind: 'Inner', metadata: { ...known, other: 1 }, spec: {} },
  });
  const notes = await api.notes('create', 'crontabs', { ...AT, body });
  expect(notes.warnings).toEqual(['unknown field "spec.template.metadata.other"']);
  expect((await api.get('crontabs', 'a', AT)).spec.template.metadata).toEqual(known);
});

it('rejects objects that the schema does not allow, with 422', async () => {
  await define();
  const wrong = async (spec: object) => {
    const error: any = await api.create('crontabs', tab('a', spec), AT).catch((thrown) => thrown);
    expect(error.reason).toBe('Invalid');
    return error.message;
  };
  const head = `CronTab.${GROUP} "a" is invalid: `;
  expect(await wrong({})).toBe(`${head}spec.cronSpec: Required value`);
  expect(await wrong({ cronSpec: '* * * * *', replicas: 15 })).toBe(
    `${head}spec.replicas: Invalid value: 15: spec.replicas in body should be less than or equal to 10`,
  );
  expect(await wrong({ cronSpec: '* * * * *', ports: 'x' })).toBe(
    `${head}spec.ports: Invalid value: "string": spec.ports in body must be of type array: "string"`,
  );
  expect(await wrong({ cronSpec: 'x' })).toContain("spec.cronSpec in body should match '^(");
  const ports = [{ name: 'a' }, { name: 'a' }];
  expect(await wrong({ cronSpec: '* * * * *', ports })).toBe(`${head}spec.ports[1]: Duplicate value: {"name":"a"}`);
});

it('runs the rules of the schema on every write', async () => {
  const rules = [
    { rule: 'self.spec.replicas >= oldSelf.spec.replicas', message: 'replicas cannot fall' },
    { rule: '!has(self.status) || self.status.replicas <= self.spec.replicas', fieldPath: '.status.replicas' },
  ];
  const ruled = { ...schema, 'x-kubernetes-validations': rules };
  await define({ versions: [{ ...version, schema: { openAPIV3Schema: ruled } }] });
  await api.create('crontabs', tab('a', { cronSpec: '1 1 1 1 1', replicas: 3 }), AT);
  const rejection = async (body: object, subresource?: 'status' | 'scale') => {
    const asked = subresource ? { ...AT, subresource } : AT;
    const error: any = await api.patch('crontabs', 'a', body, asked).catch((thrown) => thrown);
    return error.message;
  };
  expect(await rejection({ spec: { replicas: 2 } })).toContain('<nil>: Invalid value: replicas cannot fall');
  expect(await rejection({ spec: { replicas: 2 } }, 'scale')).toContain('replicas cannot fall');
  expect(await rejection({ status: { replicas: 5 } }, 'status')).toContain(
    'status.replicas: Invalid value: failed rule',
  );
  await api.patch('crontabs', 'a', { spec: { replicas: 5 } }, AT);
  await api.patch('crontabs', 'a', { status: { replicas: 5 } }, { ...AT, subresource: 'status' });
});

it('rejects definitions whose rules do not compile', async () => {
  const bad = { ...schema, 'x-kubernetes-validations': [{ rule: 'self.spec.missing == 1' }] };
  const versions = [{ ...version, schema: { openAPIV3Schema: bad } }];
  const body = definition({ versions });
  const error: any = await api.create('customresourcedefinitions', body, CRD).catch((thrown) => thrown);
  expect(error).toMatchObject({ reason: 'Invalid', message: expect.stringContaining("undefined field 'missing'") });
});

it('keeps the status separate, counts generations, and serves the scale', async () => {
  await define();
  await api.create('crontabs', { ...tab('a', { cronSpec: '1 1 1 1 1', replicas: 2 }), status: { replicas: 9 } }, AT);
  const status = { replicas: 2, labelSelector: 'app=a' };
  const updated = await api.patch('crontabs', 'a', { status }, { ...AT, subresource: 'status' });
  expect(updated).toMatchObject({ status, metadata: { generation: 1 } });
  const scale = await api.get('crontabs', 'a', { ...AT, subresource: 'scale' });
  expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { replicas: 2, selector: 'app=a' } });
  await api.patch('crontabs', 'a', { spec: { replicas: 5 } }, { ...AT, subresource: 'scale' });
  expect(await api.get('crontabs', 'a', AT)).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } });
  const list = await api.list('crontabs', { ...AT, options: { fieldSelector: 'spec.image=busybox' } });
  expect(list.items).toHaveLength(1);
  expect((await api.list('crontabs', { ...AT, options: { fieldSelector: 'spec.image=x' } })).items).toHaveLength(0);
});

it('has an ordinary status if the definition does not keep it separate', async () => {
  await define({ versions: [{ ...version, subresources: {} }] });
  const created = await api.create('crontabs', { ...tab('a'), status: { replicas: 1 } }, AT);
  expect(created.status).toEqual({ replicas: 1 });
  const patched = await api.patch('crontabs', 'a', { status: { replicas: 2 } }, AT);
  expect(patched).toMatchObject({ status: { replicas: 2 }, metadata: { generation: 2 } });
});

it('applies configurations by the list types of the schema', async () => {
  await define();
  const apply = (manager: string, port: object) =>
    api.patch(
      'crontabs',
      'a',
      { ...AT, kind: 'CronTab', ...tab('a', { cronSpec: '1 1 1 1 1', ports: [port] }) },
      {
        ...{ ...AT, patchType: 'apply', options: { fieldManager: manager } },
      },
    );
  await apply('one', { name: 'a', port: 1 });
  const both = await apply('two', { name: 'b', port: 2 });
  expect(both.spec.ports).toEqual([
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ]);
});

it('replaces the kind when its definition changes', async () => {
  await define();
  await api.create('crontabs', tab('a'), AT);
  const watch = await api.watch('crontabs', AT);
  await watch.next();
  const wider = structuredClone(schema) as any;
  wider.properties.spec.properties.extra = { type: 'string', default: 'more' };
  await redefine([{ ...version, schema: { openAPIV3Schema: wider } }]);
  expect(watch.ended).toBe(true);
  expect((await api.get('crontabs', 'a', AT)).spec).toMatchObject({ image: 'busybox', extra: 'more' });
});

it.each(['v1', 'v2'])('shows an object in %s without defaults that would add megabytes to it', async (name) => {
  const v2 = { ...version, name: 'v2', storage: false };
  await define({ versions: [version, v2] });
  const ports = Array.from({ length: 5000 }, (_, index) => ({ name: `p${index}` }));
  await api.create('crontabs', tab('a', { cronSpec: '* * * * */5', ports }), AT);
  const wider = structuredClone(schema) as any;
  wider.properties.spec.properties.ports.items.properties.text = { type: 'string', default: 'x'.repeat(1000) };
  const changed = { schema: { openAPIV3Schema: wider } };
  await redefine([version, v2].map((each) => (each.name === name ? { ...each, ...changed } : each)));
  const at = { apiVersion: `${GROUP}/${name}` };
  expect((await api.get('crontabs', 'a', at)).spec.ports).toEqual(ports);
  expect((await api.list('crontabs', at)).items).toHaveLength(1);
  await api.patch('crontabs', 'a', { spec: { ports: ports.slice(0, 2) } }, at);
  const text = wider.properties.spec.properties.ports.items.properties.text.default;
  expect((await api.get('crontabs', 'a', at)).spec.ports).toEqual(ports.slice(0, 2).map((each) => ({ ...each, text })));
});

it('deletes all objects with the definition', async () => {
  await define();
  await api.create('crontabs', tab('a'), AT);
  await api.create('crontabs', { metadata: { name: 'b', finalizers: ['example.com/hold'] }, spec: tab('b').spec }, AT);
  const watch = await api.watch('customresourcedefinitions', CRD);
  await api.delete('customresourcedefinitions', NAME, CRD);
  const deleting = await condition(NAME, 'Terminating');
  expect(deleting.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  await expect(api.create('crontabs', tab('c'), AT)).rejects.toMatchObject({ reason: 'MethodNotAllowed' });
  await api.patch('crontabs', 'b', { metadata: { finalizers: null } }, AT);
  for (let type = ''; type !== 'DELETED'; ) {
    const [event] = await watch.next();
    if (!event) throw new Error('the watch has ended');
    type = event.type;
  }
  await expect(api.list('crontabs', AT)).rejects.toMatchObject({ reason: 'NotFound' });
});

describe('several versions', () => {
  const other = structuredClone(schema) as any;
  other.properties.spec.properties.schedule = { type: 'string' };
  const versions = [
    { ...version, storage: false },
    { ...version, name: 'v2', storage: true, schema: { openAPIV3Schema: other } },
    { ...version, name: 'v3', served: false, storage: false },
  ];

  it('are converted by their apiVersion alone, and prune by their own schemas', async () => {
    await define({ versions });
    await api.create('crontabs', tab('a', { cronSpec: '1 1 1 1 1', schedule: 'x' }), { apiVersion: `${GROUP}/v2` });
    expect((await api.get('crontabs', 'a', { apiVersion: `${GROUP}/v2` })).spec.schedule).toBe('x');
    const old = await api.get('crontabs', 'a', AT);
    expect(old).toMatchObject({ apiVersion: `${GROUP}/v1`, spec: { cronSpec: '1 1 1 1 1' } });
    expect(old.spec).not.toHaveProperty('schedule');
    await expect(api.list('crontabs', { apiVersion: `${GROUP}/v3` })).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('keep versions that were once stored', async () => {
    await define({ versions });
    const moved = versions.map((each) => ({ ...each, storage: each.name === 'v1' }));
    const updated = await redefine(moved);
    expect(updated.status.storedVersions).toEqual(['v2', 'v1']);
    const without = moved.filter((each) => each.name !== 'v2');
    await expect(redefine(without)).rejects.toMatchObject({
      message: expect.stringContaining('v2 was previously a storage version'),
    });
  });
});

it('accepts no names of another definition in the group', async () => {
  await define();
  const names = { plural: 'others', kind: 'CronTab', shortNames: ['ct'] };
  const second = { ...definition({ names }), metadata: { name: `others.${GROUP}` } };
  await api.create('customresourcedefinitions', second, CRD);
  const rejected = await condition(`others.${GROUP}`, 'NamesAccepted', 'False');
  expect(rejected.status.conditions).toMatchObject([
    { type: 'NamesAccepted', reason: 'ListKindConflict', message: '"CronTabList" is already in use' },
    { type: 'Established', status: 'False', reason: 'NotAccepted' },
  ]);
  await expect(api.list('others', AT)).rejects.toMatchObject({ reason: 'NotFound' });
  await api.delete('customresourcedefinitions', NAME, CRD);
  await condition(`others.${GROUP}`, 'Established');
  expect((await api.list('others', AT)).items).toEqual([]);
});

it('serves the kinds again after a restart', async () => {
  await define();
  await api.create('crontabs', tab('a'), AT);
  api.server.close();
  const again = await testServer([Namespace, CustomResourceDefinition], { store: api.store });
  expect((await again.get('crontabs', 'a', AT)).spec.image).toBe('busybox');
  again.server.close();
});

it('writes the status of a definition without its schemas, which may be large', async () => {
  const bodies: any[] = [];
  const watched = await testServer([Namespace, CustomResourceDefinition], {
    intercept: (handle) => (call, notes) => {
      if (call.plural === 'customresourcedefinitions' && call.subresource === 'status') bodies.push(call.body);
      return handle(call, notes);
    },
  });
  api.server.close();
  api = watched;
  const served = await define();
  expect(bodies.length).toBeGreaterThan(0);
  for (const body of bodies) expect(JSON.stringify(body)).not.toContain('openAPIV3Schema');
  expect(served.spec.versions[0].schema).toEqual({ openAPIV3Schema: schema });
  expect(served.metadata.managedFields).toHaveLength(2);
});
