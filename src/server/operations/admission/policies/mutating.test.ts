import { beforeEach, describe, expect, it } from 'vitest';
import { keepingItsPromise, podNamed } from '../../../../../test/support/admission.ts';
import { type Asked, type TestServer, testServer } from '../../../../../test/support/server.ts';
import { allKinds } from '../../../../kinds/all.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { namespaceLifecycle } from '../plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { mutatingAdmissionPolicy } from './mutating.ts';

const REGISTRATION: Asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const CONFIG_MAPS = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};
const PODS = { ...CONFIG_MAPS, operations: ['CREATE'], resources: ['pods'] };

let api: TestServer;

beforeEach(() => start());

async function start(...more: readonly AdmissionPlugin[]) {
  const plugins = [namespaceLifecycle, ...more, mutatingAdmissionPolicy];
  api = await testServer(allKinds, { admission: plugins.map(keepingItsPromise) });
}

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** Creates a policy for ConfigMaps and a binding of the same name. */
async function enforce(mutations: readonly object[], spec: object = {}, name = 'p') {
  const matchConstraints = { resourceRules: [CONFIG_MAPS] };
  const policy = { metadata: { name }, spec: { matchConstraints, mutations, reinvocationPolicy: 'Never', ...spec } };
  await api.create('mutatingadmissionpolicies', policy, REGISTRATION);
  const bound = { metadata: { name: `${name}-binding` }, spec: { policyName: name } };
  await api.create('mutatingadmissionpolicybindings', bound, REGISTRATION);
}

const created = (name: string, more: object = {}, asked: Asked = {}) =>
  api.create('configmaps', { metadata: { name }, ...more }, asked);

it('an apply configuration is merged into the object, which is defaulted and validated afterwards', async () => {
  const label = apply('Object{metadata: Object.metadata{labels: {"by": "policy"}}}');
  const container = 'Object.spec.containers{name: "proxy", image: "proxy:1"}';
  const spec = { matchConstraints: { resourceRules: [PODS] } };
  await enforce([label, apply(`Object{spec: Object.spec{containers: [${container}]}}`)], spec);
  const pod = await api.create('pods', { ...podNamed('p'), metadata: { name: 'p', labels: { own: 'yes' } } });
  expect(pod.metadata.labels).toEqual({ own: 'yes', by: 'policy' });
  expect(pod.spec.containers.map(({ name }: { name: string }) => name).sort()).toEqual(['c', 'proxy']);
  const added = pod.spec.containers.find(({ name }: { name: string }) => name === 'proxy');
  expect(added).toMatchObject({ image: 'proxy:1', terminationMessagePolicy: 'File' });
  await enforce([apply('Object{spec: Object.spec{restartPolicy: "Sometimes"}}')], spec, 'q');
  await expect(api.create('pods', podNamed('q'))).rejects.toMatchObject({ reason: 'Invalid', code: 422 });
});

it.each([
  [
    'Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "a"}]}}',
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tolerations',
  ],
  [
    'Object{spec: Object.spec{nothing: 1}}',
    'error applying patch: failed to convert patch object to typed object: .spec.nothing: field not declared in schema',
  ],
  [
    'Object{spec: Object.spek{hostname: "a"}}',
    'type mismatch: unexpected type name "Object.spek", expected "Object.spec", which matches field name path from root Object type',
  ],
])('an apply configuration cannot be %s', async (expression, message) => {
  await enforce([apply(expression)], { matchConstraints: { resourceRules: [PODS] } });
  await expect(api.create('pods', podNamed('p'))).rejects.toMatchObject({
    message: `policy 'p' with binding 'p-binding' denied request: ${message}`,
    code: 403,
    reason: 'Invalid',
    details: { name: 'p', kind: 'pods', causes: [{ message: expect.stringContaining(message) }] },
  });
});

describe('a JSON patch', () => {
  it('changes the object, with values of any type', async () => {
    const operations = [
      'JSONPatch{op: "add", path: "/data", value: {"a": object.metadata.name}}',
      'JSONPatch{op: "add", path: "/metadata/labels", value: Object.metadata.labels{b: "c"}}',
      'JSONPatch{op: "add", path: "/metadata/annotations", value: {"a/b": "no"}}',
      'JSONPatch{op: "replace", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b"), value: "yes"}',
    ];
    await enforce([patch(`[${operations.join()}]`)]);
    expect(await created('x')).toMatchObject({
      data: { a: 'x' },
      metadata: { labels: { b: 'c' }, annotations: { 'a/b': 'yes' } },
    });
  });

  it('changes nothing when its test operation fails', async () => {
    const operations = [
      'JSONPatch{op: "test", path: "/data/a", value: "b"}',
      'JSONPatch{op: "replace", path: "/data/a", value: "c"}',
    ];
    await enforce([patch(`[${operations.join()}]`)]);
    expect((await created('x', { data: { a: 'b' } })).data).toEqual({ a: 'c' });
    expect((await created('y', { data: { a: 'x' } })).data).toEqual({ a: 'x' });
  });

  it('rejects the request when it cannot be applied, unless the failure policy says otherwise', async () => {
    const mutations = [patch('[JSONPatch{op: "remove", path: "/data/none"}]')];
    await enforce(mutations, { failurePolicy: 'Ignore' }, 'ignored');
    await created('a');
    await enforce(mutations);
    await expect(created('b')).rejects.toThrow("policy 'p' with binding 'p-binding' denied request: JSON Patch: ");
  });

  it('cannot change fields that only the server writes', async () => {
    await enforce([patch('[JSONPatch{op: "add", path: "/metadata/uid", value: "mine"}]')]);
    expect((await created('x')).metadata.uid).not.toBe('mine');
  });
});

const TOO_LARGE = 'the result is larger than an object may be';

it.each([
  ['apply configuration', apply('Object{data: variables.v40}')],
  ['JSON patch', patch('[JSONPatch{op: "add", path: "/data", value: variables.v40}]')],
])(
  'the result of an expression has a size limit in an %s, even if it contains a value many times',
  async (_, mutation) => {
    const twice = Array.from({ length: 40 }, (_, i) => ({
      name: `v${i + 1}`,
      expression: `{"a": variables.v${i}, "b": variables.v${i}}`,
    }));
    await enforce([mutation], { variables: [{ name: 'v0', expression: '{"a": "b"}' }, ...twice] });
    await expect(created('x')).rejects.toThrow(TOO_LARGE);
  },
);

it('the result of an expression shares a size limit with the results of other mutations', async () => {
  const add = (name: string) =>
    patch(`[JSONPatch{op: "add", path: "/data/${name}", value: object.data.text + object.data.text}]`);
  await enforce(['a', 'b', 'c', 'd'].map(add));
  await expect(created('x', { data: { text: 'x'.repeat(600_000) } })).rejects.toMatchObject({ code: 413 });
});

describe('mutations', () => {
  const append = (word: string) =>
    patch(
      `[JSONPatch{op: "add", path: "/data", value: {"told": (has(object.data) ? object.data.told : "") + "${word}"}}]`,
    );

  it('see the changes of earlier ones, in the order of their names', async () => {
    await enforce([append('c')], {}, 'second');
    await enforce([append('a'), append('b')], {}, 'first');
    expect((await created('x')).data).toEqual({ told: 'abc' });
  });

  it('run again when another policy has changed the object after them', async () => {
    const sees = patch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"sees": string(has(object.data))}}]');
    await enforce([sees], { reinvocationPolicy: 'IfNeeded' }, 'first');
    await enforce([patch('[JSONPatch{op: "add", path: "/data", value: {"a": "b"}}]')], {}, 'second');
    expect((await created('x')).metadata.labels).toEqual({ sees: 'true' });
  });

  it('run if conditions and variables allow it', async () => {
    const matchConditions = [{ name: 'c', expression: "object.metadata.name != 'a'" }];
    const variables = [{ name: 'who', expression: 'request.userInfo.username' }];
    await enforce([apply('Object{data: {"who": variables.who}}')], { matchConditions, variables });
    expect((await created('a')).data).toBeUndefined();
    expect((await created('b')).data).toEqual({ who: 'tester' });
  });

  it('receive parameters', async () => {
    await created('settings', { data: { team: 'blue' } });
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const mutations = [apply('Object{metadata: Object.metadata{labels: {"team": params.data.team}}}')];
    await enforce(mutations, { paramKind });
    const paramRef = { name: 'settings', parameterNotFoundAction: 'Deny' };
    const binding = { metadata: { name: 'p-binding' }, spec: { policyName: 'p', paramRef } };
    await api.update('mutatingadmissionpolicybindings', binding, REGISTRATION);
    expect((await created('x')).metadata.labels).toEqual({ team: 'blue' });
  });

  it('change the number of replicas through the subresource scale', async () => {
    const rule = { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] };
    const matchConstraints = { resourceRules: [rule] };
    await enforce([apply('Object{spec: Object.spec{replicas: 3}}')], { matchConstraints });
    const labels = { a: 'b' };
    const template = { metadata: { labels }, spec: podNamed('x').spec };
    const apps = { apiVersion: 'apps/v1' };
    await api.create(
      'deployments',
      { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } },
      apps,
    );
    await api.patch('deployments', 'd', { spec: { replicas: 7 } }, { ...apps, subresource: 'scale' });
    expect((await api.get('deployments', 'd', apps)).spec.replicas).toBe(3);
  });
});
