import { beforeEach, describe, expect, it } from 'vitest';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';

let api: TestServer;

beforeEach(async () => {
  api = await testServer([ConfigMap, Deployment, Namespace, Pod, Secret, Service]);
});

interface Applying extends Omit<Asked, 'options'> {
  readonly by?: string;
  readonly force?: boolean;
  readonly dryRun?: readonly string[];
}

/** Applies a configuration under its own name. */
function apply(plural: string, config: any, { by = 'me', force, dryRun, ...asked }: Applying = {}): Promise<any> {
  const options = { fieldManager: by, ...(force ? { force } : {}), ...(dryRun ? { dryRun } : {}) };
  const { apiVersion } = config;
  const full = { apiVersion, ...asked, patchType: 'apply', options } as const;
  return api.patch(plural, config.metadata.name, structuredClone(config), full);
}

const map = (data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', ...metadata },
  data,
});

const deployment = (spec: object, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', ...metadata },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'one' }] },
    },
    ...spec,
  },
});

/** Formats managers as `manager operation subresource: fields`. */
const managers = ({ metadata }: any) =>
  (metadata.managedFields ?? []).map(
    ({ manager, operation, subresource = '', fieldsV1 }: any) =>
      `${[manager, operation, subresource].filter(Boolean).join(' ')}: ${JSON.stringify(fieldsV1)}`,
  );

const second = () => api.clock.advance(1000);

it('creates all objects of a kind in the same way, whatever was created before', async () => {
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { a: 'b' } } });
  const made = [];
  for (const name of ['one', 'two']) made.push(await apply('namespaces', namespace(name), { namespace: '' }));
  const [one, two] = made.map(({ spec, metadata }) => ({ spec, managers: metadata.managedFields }));
  expect(two).toEqual(one);
  expect(zeroObject(Namespace.hub.schema)).toEqual({ metadata: {}, spec: {}, status: {} });
});

describe('a configuration', () => {
  it('creates the object, and its manager owns the applied fields', async () => {
    const made = await apply('configmaps', map({ a: '1' }, { labels: { x: 'y' } }));
    expect(made.data).toEqual({ a: '1' });
    expect(made.metadata.managedFields).toEqual([
      {
        manager: 'me',
        operation: 'Apply',
        apiVersion: 'v1',
        time: made.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } },
      },
    ]);
  });

  it('owns leaves, items of lists by their keys, keys of maps, and nothing that was defaulted', async () => {
    const made = await apply('deployments', deployment({ replicas: 2 }));
    expect(made.spec.strategy.type).toBe('RollingUpdate');
    expect(managers(made)).toEqual([
      'me Apply: {"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},' +
        '"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{}}}}}}}',
    ]);
  });

  it('gets the default of an omitted list key', async () => {
    const ports = [{ port: 80 }, { port: 8080, protocol: 'UDP', name: 'b' }];
    const spec = { ports: ports.map((each, i) => ({ name: `p${i}`, ...each })), selector: { a: 'b' } };
    const made = await apply('services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec });
    const [entry] = made.metadata.managedFields;
    expect(Object.keys(entry.fieldsV1['f:spec']['f:ports'])).toEqual([
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":8080,"protocol":"UDP"}',
    ]);
    expect(entry.fieldsV1['f:spec']['f:selector']).toEqual({});
  });

  it('changes nothing when it is applied again', async () => {
    const made = await apply('deployments', deployment({ replicas: 2 }));
    await second();
    expect(await apply('deployments', deployment({ replicas: 2 }))).toEqual(made);
    const resources = { requests: { cpu: '1000m' } };
    const containers = [{ name: 'c', image: 'one', resources }];
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers } };
    const canonical = await apply('deployments', deployment({ replicas: 2, template }));
    await second();
    expect(await apply('deployments', deployment({ replicas: 2, template }))).toEqual(canonical);
  });

  it('removes fields that its manager no longer applies', async () => {
    await apply('configmaps', map({ a: '1', b: '2' }, { labels: { x: 'y' } }));
    const changed = await apply('configmaps', map({ a: '1' }));
    expect(changed.data).toEqual({ a: '1' });
    expect(changed.metadata.labels).toBeUndefined();
    expect(managers(changed)).toEqual(['me Apply: {"f:data":{"f:a":{}}}']);
  });

  it('removes an item of a list', async () => {
    const withPorts = (...ports: object[]) => {
      const containers = [{ name: 'c', image: 'one', ports }];
      return deployment({ template: { metadata: { labels: { app: 'a' } }, spec: { containers } } });
    };
    const [http, dns] = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }];
    await apply('deployments', withPorts(http, dns));
    const changed = await apply('deployments', withPorts(http));
    expect(changed.spec.template.spec.containers[0].ports).toEqual([{ containerPort: 80, protocol: 'TCP' }]);
  });

  it('leaves the fields of others', async () => {
    await apply('configmaps', map({ a: '1', b: '2' }));
    await api.patch('configmaps', 'm', { data: { c: '3' } }, { options: { fieldManager: 'you' } });
    await apply('configmaps', map({ b: '2', d: '4' }), { by: 'them' });
    const changed = await apply('configmaps', map({ a: '1' }));
    expect(changed.data).toEqual({ a: '1', b: '2', c: '3', d: '4' });
    expect(managers(changed)).toEqual([
      'me Apply: {"f:data":{"f:a":{}}}',
      'them Apply: {"f:data":{"f:b":{},"f:d":{}}}',
      'you Update: {"f:data":{"f:c":{}}}',
    ]);
  });

  it('keeps its own list order among the items of others', async () => {
    const env = (...names: string[]) => {
      const containers = [{ name: 'c', image: 'one', env: names.map((name) => ({ name, value: '1' })) }];
      return deployment({ template: { metadata: { labels: { app: 'a' } }, spec: { containers } } });
    };
    const names = (made: any) => made.spec.template.spec.containers[0].env.map(({ name }: any) => name).join('');
    await apply('deployments', env('A', 'B', 'C'));
    expect(names(await apply('deployments', env('X', 'B'), { by: 'you' }))).toBe('AXBC');
    expect(names(await apply('deployments', env('C', 'A', 'B')))).toBe('XCAB');
  });
});

describe('a field with another owner', () => {
  it('is a conflict, with the message of Kubernetes', async () => {
    await apply('deployments', deployment({ replicas: 2 }));
    await expect(apply('deployments', deployment({ replicas: 3 }), { by: 'you' })).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "me"', field: '.spec.replicas' }],
      },
    });
    const image = { apiVersion: 'apps/v1', options: { fieldManager: 'set' }, patchType: 'strategic' } as const;
    const containers = [{ name: 'c', image: 'two' }];
    await api.patch('deployments', 'd', { spec: { template: { spec: { containers } } } }, image);
    await expect(apply('deployments', deployment({ replicas: 3 }), { by: 'you' })).rejects.toMatchObject({
      message:
        'Apply failed with 2 conflicts: conflicts with "me":\n- .spec.replicas\nconflicts with "set" using apps/v1:\n' +
        '- .spec.template.spec.containers[name="c"].image',
      details: { causes: [{}, { message: 'conflict with "set" using apps/v1' }] },
    });
  });

  it('can be taken over by force', async () => {
    await apply('deployments', deployment({ replicas: 2 }));
    const taken = await apply('deployments', deployment({ replicas: 3 }), { by: 'you', force: true });
    expect(taken.spec.replicas).toBe(3);
    const [me, you] = taken.metadata.managedFields;
    expect([me.fieldsV1['f:spec']['f:replicas'], you.fieldsV1['f:spec']['f:replicas']]).toEqual([undefined, {}]);
  });

  it('is shared between managers that apply the same value', async () => {
    await apply('configmaps', map({ a: '1' }));
    const shared = await apply('configmaps', map({ a: '1' }), { by: 'you' });
    expect(managers(shared)).toHaveLength(2);
    expect((await apply('configmaps', map({}), { by: 'you' })).data).toEqual({ a: '1' });
    expect((await apply('configmaps', map({}))).data).toBeUndefined();
  });

  it('is given up by omitting it after another manager has taken it', async () => {
    await apply('deployments', deployment({ replicas: 2 }));
    await api.patch('deployments', 'd', { spec: { replicas: 5 } }, { apiVersion: 'apps/v1', subresource: 'scale' });
    const left = await apply('deployments', deployment({}));
    expect(left.spec.replicas).toBe(5);
    expect(managers(left)).toContain('unknown Update scale: {"f:spec":{"f:replicas":{}}}');
  });
});

describe('an object that was never applied to', () => {
  it('is owned by its creator', async () => {
    const made = await api.create('configmaps', map({ a: '1', b: '2' }), { userAgent: 'maker/v2 (linux)' });
    expect(made.metadata.managedFields).toEqual([
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion: 'v1',
        time: made.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
      },
    ]);
    await expect(apply('configmaps', map({ a: '2' }))).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "maker" using v1: .data.a',
    });
  });

  it('has a manager for all existing fields when its managers were removed', async () => {
    await api.create('configmaps', map({ a: '1', b: '2' }, { labels: { x: 'y' } }));
    const reset = await api.patch('configmaps', 'm', { metadata: { managedFields: [] } });
    expect(reset.metadata.managedFields).toBeUndefined();
    const untracked = await api.patch('configmaps', 'm', { data: { b: '3' } });
    expect(untracked.metadata.managedFields).toBeUndefined();
    const config = map({ a: '2' });
    await expect(apply('configmaps', config)).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    });
    const forced = await apply('configmaps', config, { force: true });
    expect(managers(forced)).toEqual([
      'me Apply: {"f:data":{"f:a":{}}}',
      'before-first-apply Update: {"f:data":{".":{},"f:b":{}},"f:metadata":{"f:labels":{".":{},"f:x":{}}}}',
    ]);
  });

  it('has the zero values of structs, lists and pointers as Go programs write them', async () => {
    await api.create('deployments', deployment({}), { apiVersion: 'apps/v1' });
    const bare = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', labels: { x: 'y' } } };
    const [, before] = managers(await apply('deployments', bare));
    expect(before).toBe(
      'unknown Update: {"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},' +
        '"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},' +
        '"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":' +
        '{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},' +
        '"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},' +
        '"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}}',
    );
  });

  it('migrates from client-side apply with kubectl without conflicts', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const config = map({ a: '1' }, { annotations: {} });
    await api.create('configmaps', map({ a: '1' }, { annotations: { [annotation]: JSON.stringify(config) } }));
    const changed = map({ a: '2' });
    await expect(apply('configmaps', changed, { by: 'other' })).rejects.toMatchObject({ code: 409 });
    const moved = await apply('configmaps', changed, { by: 'kubectl' });
    expect(moved.data).toEqual({ a: '2' });
    expect(JSON.parse(moved.metadata.annotations[annotation])).toEqual(changed);
    await api.patch('configmaps', 'm', { data: { a: '3' } }, { options: { fieldManager: 'you' } });
    await expect(apply('configmaps', map({ a: '4' }), { by: 'kubectl' })).rejects.toMatchObject({ code: 409 });
  });
});

describe('other writes of a tracked object', () => {
  it('take over the fields that they change, by manager, version and subresource', async () => {
    await apply('deployments', deployment({ replicas: 2 }));
    await second();
    const at = { apiVersion: 'apps/v1', userAgent: 'operator/v1.2 (linux)' };
    const [lastUpdateTime, lastTransitionTime] = ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z'];
    const conditions = [{ type: 'Available', status: 'True', lastUpdateTime, lastTransitionTime }];
    const status = { replicas: 1, conditions };
    await api.patch('deployments', 'd', { status }, { ...at, subresource: 'status' });
    const changed = await api.patch('deployments', 'd', { spec: { paused: true, replicas: 7 } }, at);
    expect(managers(changed).slice(1)).toEqual([
      'operator Update: {"f:spec":{"f:paused":{},"f:replicas":{}}}',
      'operator Update status: {"f:status":{"f:conditions":{".":{},"k:{\\"type\\":\\"Available\\"}":{".":{},' +
        '"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:status":{},"f:type":{}}},"f:replicas":{}}}',
    ]);
    expect(changed.metadata.managedFields[1].time).not.toBe(changed.metadata.managedFields[0].time);
  });

  it('keep the time when they change no field', async () => {
    const made = await apply('configmaps', map({ a: '1' }));
    await second();
    expect(await api.update('configmaps', map({ a: '1' }))).toEqual(made);
  });

  it('may list the managers, and remove them', async () => {
    const made = await apply('configmaps', map({ a: '1' }));
    const [entry] = made.metadata.managedFields;
    const renamed = { ...map({ a: '1' }), metadata: { name: 'm', managedFields: [{ ...entry, manager: 'you' }] } };
    expect(managers(await api.update('configmaps', renamed))).toEqual(['you Apply: {"f:data":{"f:a":{}}}']);
    for (const managedFields of [[{ ...entry, fieldsType: 'X' }], [{ ...entry, fieldsV1: { nonsense: {} } }], null]) {
      const kept = await api.update('configmaps', { ...renamed, metadata: { name: 'm', managedFields } });
      expect(managers(kept)).toEqual(['you Apply: {"f:data":{"f:a":{}}}']);
    }
    for (const managedFields of [[], [{}]]) {
      await apply('configmaps', map({ a: '1' }), { force: true });
      const reset = await api.patch('configmaps', 'm', { metadata: { managedFields } });
      expect(reset.metadata.managedFields).toBeUndefined();
    }
  });

  it('are merged when there are too many', async () => {
    await apply('configmaps', map({ a: '1' }));
    for (let i = 0; i < 15; i++) {
      await api.patch('configmaps', 'm', { data: { [`k${i}`]: 'v' } }, { options: { fieldManager: `u${i}` } });
      await second();
    }
    const names = (await api.get('configmaps', 'm')).metadata.managedFields.map(({ manager }: any) => manager);
    expect(names).toHaveLength(11);
    expect(names.slice(0, 3)).toEqual(['me', 'ancient-changes', 'u6']);
  });

  it('in other versions own the fields of those versions', async () => {
    await apply('deployments', deployment({ replicas: 2 }));
    const old = { apiVersion: 'extensions/v1beta1', options: { fieldManager: 'old' } };
    const changed = await api.patch('deployments', 'd', { spec: { minReadySeconds: 5 } }, old);
    expect(changed.metadata.managedFields.map(({ apiVersion }: any) => apiVersion)).toEqual([
      'apps/v1',
      'extensions/v1beta1',
    ]);
    await expect(apply('deployments', deployment({ replicas: 2, minReadySeconds: 6 }))).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "old" using extensions/v1beta1: .spec.minReadySeconds',
    });
    const moved = await apply('deployments', { ...deployment({ replicas: 3 }), apiVersion: 'extensions/v1beta1' });
    expect(moved.spec.replicas).toBe(3);
    const [me] = moved.metadata.managedFields;
    expect([me.manager, me.apiVersion]).toEqual(['me', 'extensions/v1beta1']);
    const gone = await apply('deployments', { ...deployment({}), apiVersion: 'extensions/v1beta1' });
    expect(gone.spec.replicas).toBe(1);
  });
});

describe('subresources', () => {
  it('own only the fields that they write', async () => {
    await apply('deployments', { ...deployment({ replicas: 1 }), status: { replicas: 9 } });
    const config = { ...deployment({ replicas: 4 }), status: { replicas: 1 } };
    const changed = await apply('deployments', config, { by: 'reporter', subresource: 'status' });
    expect([changed.spec.replicas, changed.status.replicas]).toEqual([1, 1]);
    expect(managers(changed)[1]).toBe('reporter Apply status: {"f:status":{"f:replicas":{}}}');
    expect(managers(changed)[0]).not.toContain('f:status');
  });

  it('do not create objects', async () => {
    const asked = { by: 'reporter', subresource: 'status' };
    await expect(apply('deployments', deployment({}), asked)).rejects.toMatchObject({ code: 404 });
  });

  it('apply a scale', async () => {
    await apply('deployments', deployment({ replicas: 1 }));
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 4 } };
    const asked = { apiVersion: 'apps/v1', by: 'scaler', subresource: 'scale' };
    await expect(apply('deployments', scale, asked)).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
    });
    expect((await apply('deployments', scale, { ...asked, force: true })).spec).toEqual({ replicas: 4 });
    const scaled = await api.get('deployments', 'd', { apiVersion: 'apps/v1' });
    expect(managers(scaled)[1]).toBe('scaler Apply scale: {"f:spec":{"f:replicas":{}}}');
  });
});

describe('an apply is rejected', () => {
  const rejected = (config: any, asked: Applying & { plural?: string } = {}) =>
    expect(apply(asked.plural ?? 'configmaps', config, asked)).rejects;

  it('without a manager, and with one that cannot be printed', async () => {
    await rejected(map({}), { by: '' }).toMatchObject({
      code: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    });
    await rejected(map({}), { by: 'a\n' }).toMatchObject({
      message:
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\n": invalid character U+000A (at position 1)',
    });
    await expect(api.patch('configmaps', 'm', {}, { options: { force: true } })).rejects.toMatchObject({
      message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    });
  });

  it('with unknown fields, wrong types, and ambiguous list items', async () => {
    await rejected({ ...map({}), spec: 1 }).toMatchObject({
      code: 500,
      message:
        'failed to create typed patch object (default/m; v1, Kind=ConfigMap): .spec: field not declared in schema',
    });
    const failure = await apply('configmaps', { ...map({}), spec: 1, more: 2 }).catch((error) => error);
    expect(failure.toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'failed to create typed patch object (default/m; v1, Kind=ConfigMap): .spec: field not declared in schema',
      code: 500,
    });
    const containers = [
      { name: 'c', image: 'one' },
      { name: 'c', image: 'two' },
    ];
    const twice = deployment({ template: { spec: { containers } } });
    await rejected(twice, { plural: 'deployments' }).toMatchObject({
      message: expect.stringContaining('.spec.template.spec.containers: duplicate entries for key [name="c"]'),
    });
    await rejected(deployment({ replicas: 'x' }), { plural: 'deployments' }).toMatchObject({
      message: expect.stringContaining('.spec.replicas: expected numeric (int or float), got string'),
    });
    const wrong = {
      data: { a: 1, b: { x: ['y'] } },
      binaryData: 'none',
      immutable: 'yes',
    };
    await rejected({ ...map({}), ...wrong }).toMatchObject({
      message: [
        'failed to create typed patch object (default/m; v1, Kind=ConfigMap): errors:',
        '  .data.a: expected string, got &value.valueUnstructured{Value:1}',
        '  .data.b: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"x":[]interface {}{"y"}}}',
        '  .binaryData: expected map, got &{none}',
        '  .immutable: expected boolean, got &{yes}',
      ].join('\n'),
    });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: { hidden: 'x' } } };
    await rejected(secret, { plural: 'secrets' }).toMatchObject({ message: expect.not.stringContaining('hidden') });
  });

  it('for another type or version, with managers, and with a uid or version that does not match', async () => {
    await rejected({ ...map({}), kind: 'Secret' }).toMatchObject({ message: 'invalid object type: v1, Kind=Secret' });
    const other = { ...deployment({}), apiVersion: 'apps/v1beta1' };
    await rejected(other, { plural: 'deployments', apiVersion: 'apps/v1' }).toMatchObject({
      message: 'Incorrect version specified in apply patch. Specified patch version: apps/v1beta1, expected: apps/v1',
    });
    await rejected(map({}, { managedFields: [] })).toMatchObject({ message: 'metadata.managedFields must be nil' });
    await rejected(map({}, { uid: 'x' })).toMatchObject({ code: 409 });
    await apply('configmaps', map({}));
    await rejected(map({}, { uid: 'x' })).toMatchObject({ code: 409 });
    await rejected(map({ a: '1' }, { resourceVersion: '1' })).toMatchObject({ code: 409 });
    const { resourceVersion } = (await api.get('configmaps', 'm')).metadata;
    expect((await apply('configmaps', map({ a: '1' }, { resourceVersion }))).data).toEqual({ a: '1' });
  });

  it('and changes nothing in a dry run', async () => {
    expect((await apply('configmaps', map({ a: '1' }), { dryRun: ['All'] })).data).toEqual({ a: '1' });
    await expect(api.get('configmaps', 'm')).rejects.toMatchObject({ code: 404 });
    const made = await apply('configmaps', map({ a: '1' }));
    const tried = await apply('configmaps', map({ a: '2' }), { dryRun: ['All'] });
    expect([tried.data, tried.metadata.resourceVersion]).toEqual([{ a: '2' }, made.metadata.resourceVersion]);
    expect(await api.get('configmaps', 'm')).toEqual(made);
  });
});
