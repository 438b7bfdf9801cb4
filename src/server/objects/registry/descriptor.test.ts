/** Subresources that exist only as descriptors and in a kind are served, discovered, published and authorized. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, askHttp1 } from '../../../../test/support/http-client.ts';
import { type RunningServer, startServer, TOKEN } from '../../../../test/support/http-server.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import type { Call } from '../../../api/call.ts';
import type { ParameterValues, QueryParameters } from '../../../api/parameters.ts';
import { clone } from '../../../base/json/tree.ts';
import { Role } from '../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/access/rbac/role-binding.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { defineKind, type KubeObject, type ObjectOf } from '../../../kinds/kind.ts';
import type { KindSubresources, SubresourceName } from '../../../kinds/subresources.ts';
import { s } from '../../../schema/builders.ts';
import type { AdmissionPlugin } from '../../operations/admission/plugin.ts';
import type { Operation } from '../../operations/ports.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import { objectPart } from '../../operations/subresources/object-part.ts';
import type { Subresource } from '../../operations/subresources/subresource.ts';
import { plainItem, readBody } from '../body/body.ts';
import { withAdmittedBody } from '../transaction/admitted-body.ts';
import { transact } from '../transaction/transaction.ts';
import { bodyTypeOf } from './descriptor.ts';
import { Registry, updatedPart } from './registry.ts';

/** The test's own names are not in the closed set. */
const named = (name: string) => name as SubresourceName;
const declared = (...names: string[]) => Object.fromEntries(names.map((name) => [name, true])) as KindSubresources;

const Robot = defineKind({
  kind: 'Robot',
  scope: 'Namespaced',
  description: 'For tests.',
  versions: {
    'robots.example.com/v1': {},
    'robots.example.com/v1alpha1': { subresources: declared('blueprint') },
  },
  fields: {
    spec: s.object('RobotSpec', { arms: s.int32({ default: 2 }) }, { default: {} }),
    status: s.object('RobotStatus', { arms: s.int32(), job: s.string() }, { default: {} }),
  },
  subresources: {
    status: true,
    scale: { replicas: 'spec.arms', observed: 'status.arms', selector: 'spec.selector' },
    ...declared('job', 'camera', 'tunnel', 'tune'),
  },
  generation: true,
});
type Robot = ObjectOf<typeof Robot>;

const Job = defineKind({
  kind: 'RobotJob',
  scope: 'Namespaced',
  description: 'What a robot should do.',
  versions: { 'robots.example.com/v2': {} },
  fields: { task: s.string('The task.', { default: 'dance' }) },
});

const job: Subresource = {
  name: named('job'),
  operations: {
    create(core, request) {
      const body = { read: () => readBody(request, core.registry) as ObjectOf<typeof Job> };
      return withAdmittedBody(core, request, body, async (sent, admitted) => {
        const next = (current: { hub(kind: typeof Robot): KubeObject }) => {
          const robot = clone(current.hub(Robot)) as Robot;
          robot.status = { ...robot.status, job: sent.task };
          return robot;
        };
        await transact(core, request, { type: 'update', part: updatedPart(request), next }, admitted);
        return { type: 'object', item: plainItem(sent) };
      });
    },
  },
  content: { type: 'body', of: () => bodyTypeOf(Job) },
  updates: 'status',
};

const CAMERA = {
  lens: { type: 'string', description: 'Which lens.' },
  zoom: { type: 'integer', description: 'How near.' },
  night: { type: 'boolean', description: 'Whether it is dark.' },
  secret: { type: 'string', description: 'Not for everybody.', isPublished: false },
} as const satisfies QueryParameters;

const camera: Subresource = {
  name: named('camera'),
  operations: {
    async get(_core, { call }) {
      const parameters: ParameterValues<typeof CAMERA> = call.parameters ?? {};
      const pieces = [Buffer.from(JSON.stringify(parameters))];
      return { type: 'stream', contentType: 'text/plain', pieces: asyncOf(pieces) };
    },
  },
  content: { type: 'text' },
  parameters: CAMERA,
};

async function* asyncOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const connect: Operation = async (_core, { call }) => {
  const { verb, path, body } = call as Call;
  return { type: 'object', item: plainItem({ kind: 'Echo', verb, path, body } as unknown as KubeObject) };
};

const tunnel: Subresource = {
  name: named('tunnel'),
  operations: { get: connect, create: connect, update: connect, patch: connect, delete: connect },
  content: { type: 'connection', optionsKind: ({ kind }) => `${kind}TunnelOptions`, takesPath: true },
};

const blueprint: Subresource = {
  name: named('blueprint'),
  operations: { get: connect },
  content: { type: 'body', of: (_, { apiVersion }) => ({ kind: 'Blueprint', apiVersion }) },
};

const tune = objectPart(named('tune'), 'any');

const admitted: string[] = [];
const recording: AdmissionPlugin = {
  name: 'Recording',
  handles: (kind, _operation, subresource) => kind === Robot && subresource !== undefined,
  admit(_core, { operation, subresource, object }) {
    admitted.push(`${operation} ${subresource} ${object?.kind}`);
    // The schema of the body restores the default.
    if (object && object.kind === 'RobotJob') delete (object as { task?: string }).task;
  },
};

let api: TestServer;
let running: RunningServer;
beforeAll(async () => {
  api = await testServer([Namespace, Robot, Role, RoleBinding], {
    subresources: [...allSubresources, job, camera, tunnel, blueprint, tune],
    admission: [recording],
    authorization: ['RBAC'],
  });
  const { handle, registry, backends, authorizer } = api.server;
  running = await startServer({ handle, registry, backends, authorizer });
  await api.create('robots', { metadata: { name: 'marvin' } }, v1);
  await api.create('roles', { metadata: { name: 'operator' }, rules: [rule] }, rbac);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'operator' };
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
  await api.create('rolebindings', { metadata: { name: 'alice' }, roleRef, subjects }, rbac);
});
afterAll(async () => {
  await running.server.close();
  api.server.close();
});

const v1 = { apiVersion: 'robots.example.com/v1' };
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const rule = {
  apiGroups: ['robots.example.com'],
  resources: ['robots/job', 'robots/camera', 'robots/tunnel'],
  verbs: ['create', 'get', 'delete'],
};

const ROBOTS = '/apis/robots.example.com/v1/namespaces/default/robots';

function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  const { authority, port } = running;
  const authorization = `Bearer ${TOKEN}`;
  const type = { 'content-type': 'application/json' };
  return askHttp1({
    ...{ port, ca: authority.ca, path, method, headers: { authorization, ...type, ...headers } },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** Requests documents as a user who may read all of them: those paths are not resources. */
const documents = async (path: string, headers: Record<string, string> = {}) => {
  const open = await startServer({ registry: api.server.registry, backends: api.server.backends });
  try {
    const { authority, port } = open;
    const all = { authorization: `Bearer ${TOKEN}`, ...headers };
    return (await askHttp1({ port, ca: authority.ca, path, headers: all })).json();
  } finally {
    await open.server.close();
  }
};

describe('a subresource with its own body', () => {
  it('is performed after its body was decoded and admitted by its own schema', async () => {
    admitted.length = 0;
    const { code, json } = await ask('POST', `${ROBOTS}/marvin/job`, { task: 'sing' });
    expect([code, json()]).toEqual([
      200,
      expect.objectContaining({ kind: 'RobotJob', apiVersion: 'robots.example.com/v2', task: 'dance' }),
    ]);
    expect(admitted).toEqual(['CREATE job RobotJob']);
  });

  it('changes the part that it declares', async () => {
    const robot = await api.get('robots', 'marvin', v1);
    expect(robot).toMatchObject({ spec: { arms: 2 }, status: { job: 'dance' }, metadata: { generation: 1 } });
  });

  it('rejects other kinds, and unknown fields in a strict request', async () => {
    const other = await ask('POST', `${ROBOTS}/marvin/job`, { kind: 'Robot', ...v1 });
    expect(other.json().message).toContain('cannot be handled as a RobotJob');
    const strict = await ask('POST', `${ROBOTS}/marvin/job?fieldValidation=Strict`, { tusk: 'x' });
    expect([strict.code, strict.json().message]).toEqual([400, expect.stringContaining('unknown field "tusk"')]);
  });

  it('exists for its verbs, and the kinds that declare it', async () => {
    expect((await ask('GET', `${ROBOTS}/marvin/job`)).code).toBe(405);
    await expect(api.get('robots', 'marvin', { ...v1, subresource: 'job' })).rejects.toMatchObject({ code: 405 });
    const none = api.get('namespaces', 'default', { namespace: undefined as never, subresource: 'job' });
    await expect(none).rejects.toMatchObject({ code: 404 });
  });

  it('can belong to a single version', async () => {
    const at = { subresource: 'blueprint', apiVersion: 'robots.example.com/v1alpha1' };
    expect(await api.get('robots', 'marvin', at)).toMatchObject({ kind: 'Echo' });
    await expect(api.get('robots', 'marvin', { ...at, ...v1 })).rejects.toMatchObject({ code: 404 });
  });
});

it('a subresource of text gets exactly its parameters, each in its type', async () => {
  const path = `${ROBOTS}/marvin/camera?lens=a&zoom=5&night&secret=x&zoom=7&limit=3&other=y`;
  const { code, headers, text } = await ask('GET', path, undefined, { accept: 'image/png' });
  expect([code, headers['content-type']]).toEqual([200, 'text/plain']);
  expect(JSON.parse(text)).toEqual({ lens: 'a', zoom: 5, night: true, secret: 'x' });
  expect((await ask('GET', `${ROBOTS}/marvin/camera?zoom=near`)).code).toBe(400);
});

it.each([
  ['GET', '/tunnel', { verb: 'get', path: '' }],
  ['GET', '/tunnel/', { verb: 'get', path: '/' }],
  ['POST', '/tunnel/a%2Fb/c%20d/', { verb: 'create', path: '/a%2Fb/c%20d/' }],
  ['DELETE', '/tunnel/x?limit=1', { verb: 'delete', path: '/x' }],
])('a subresource that connects accepts %s and a path: %s', async (method, path, expected) => {
  const { code, json } = await ask(method, `${ROBOTS}/marvin${path}`, method === 'POST' ? { any: 'body' } : undefined);
  expect([code, json()]).toEqual([200, { kind: 'Echo', ...expected }]);
});

it('a subresource that connects is the only type that accepts a path', async () => {
  expect((await ask('GET', `${ROBOTS}/marvin/camera/x`)).code).toBe(404);
});

it('permissions are checked for a verb on the resource and the subresource', async () => {
  expect((await ask('POST', `${ROBOTS}/marvin/job`, {})).code).toBe(200);
  const rejected = await ask('PUT', `${ROBOTS}/marvin/tunnel`, {});
  expect(rejected.json().message).toContain(
    'User "alice" cannot update resource "robots/tunnel" in API group "robots.example.com"',
  );
  expect((await ask('GET', `${ROBOTS}/marvin/tune`)).code).toBe(403);
  expect((await ask('GET', `${ROBOTS}/marvin`)).code).toBe(403);
});

it('permissions are also checked for calls within the process', async () => {
  const call = { ...v1, verb: 'create', plural: 'robots', namespace: 'default', name: 'marvin' } as const;
  const as = (name: string) => api.server.direct({ name, groups: [] });
  const body = () => ({ task: 'sing' });
  expect(await as('alice')({ ...call, subresource: 'job', body: body() })).toMatchObject({ type: 'object' });
  await expect(as('bob')({ ...call, subresource: 'job', body: body() })).rejects.toMatchObject({ code: 403 });
});

describe('discovery', () => {
  const verbs = { job: ['create'], camera: ['get'], tunnel: ['create', 'delete', 'get', 'patch', 'update'] };

  it('lists the subresource, with the kind of its bodies', async () => {
    const { resources } = await documents('/apis/robots.example.com/v1');
    const rows = new Map<string, object>(resources.map((row: { name: string }) => [row.name, row]));
    const base = { singularName: '', namespaced: true };
    expect([...rows.keys()]).toEqual([
      'robots',
      ...['camera', 'job', 'scale', 'status', 'tune', 'tunnel'].map((name) => `robots/${name}`),
    ]);
    expect(rows.get('robots/job')).toEqual({
      ...{ ...base, name: 'robots/job', verbs: verbs.job },
      ...{ group: 'robots.example.com', version: 'v2', kind: 'RobotJob' },
    });
    expect(rows.get('robots/camera')).toEqual({ ...base, name: 'robots/camera', kind: 'Robot', verbs: verbs.camera });
    expect(rows.get('robots/tunnel')).toMatchObject({ kind: 'RobotTunnelOptions', verbs: verbs.tunnel });
    expect(rows.get('robots/scale')).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
  });

  it('lists the subresource in its aggregated form', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = await documents('/apis', { accept });
    const group = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'robots.example.com');
    expect(group.versions[0].resources[0].subresources).toContainEqual({
      subresource: 'job',
      responseKind: { group: 'robots.example.com', version: 'v2', kind: 'RobotJob' },
      verbs: verbs.job,
    });
  });
});

describe('the published schemas', () => {
  const path = (subresource: string) => `${ROBOTS.replace('default', '{namespace}')}/{name}/${subresource}`;

  it('have the operations of the subresource and the schema of its bodies', async () => {
    const { paths, definitions } = await documents('/openapi/v2');
    const { post } = paths[path('job')];
    const schema = { $ref: '#/definitions/com.example.robots.v2.RobotJob' };
    expect(post).toMatchObject({
      operationId: 'createRobotsExampleComV1NamespacedRobotJob',
      parameters: expect.arrayContaining([{ in: 'body', name: 'body', required: true, schema }]),
      'x-kubernetes-group-version-kind': { group: 'robots.example.com', version: 'v2', kind: 'RobotJob' },
    });
    expect(definitions['com.example.robots.v2.RobotJob'].properties.task).toMatchObject({ description: 'The task.' });
  });

  it('have its published query parameters', async () => {
    const { paths } = await documents('/openapi/v3/apis/robots.example.com/v1');
    const { get } = paths[path('camera')];
    const named = get.parameters.map(({ name, schema }: { name: string; schema: { type: string } }) => [
      name,
      schema.type,
    ]);
    expect(named).toEqual([
      ['lens', 'string'],
      ['zoom', 'integer'],
      ['night', 'boolean'],
    ]);
    expect(Object.keys(get.responses['200'].content)).toEqual(['text/plain']);
  });

  it('have every method of a connection, with and without a path', async () => {
    const { paths } = await documents('/openapi/v3/apis/robots.example.com/v1');
    const methods = (item: object) => Object.keys(item).filter((key) => key !== 'parameters');
    const all = ['post', 'delete', 'get', 'patch', 'put', 'options', 'head'];
    expect(methods(paths[path('tunnel')])).toEqual(all);
    expect(methods(paths[`${path('tunnel')}/{path}`])).toEqual(all);
    expect(paths[`${path('tunnel')}/{path}`].get).toMatchObject({
      operationId: 'connectRobotsExampleComV1GetNamespacedRobotTunnelWithPath',
      'x-kubernetes-action': 'connect',
    });
    expect(paths[path('tunnel')].post.requestBody).toBeUndefined();
  });
});

it('a kind gets the usual subresources by declaring them', async () => {
  await api.patch('robots', 'marvin', { status: { arms: 1 } }, { ...v1, subresource: 'status' });
  const scale = await api.get('robots', 'marvin', { ...v1, subresource: 'scale' });
  expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { replicas: 1 } });
  const tuned = await api.patch(
    'robots',
    'marvin',
    { spec: { arms: 3 }, status: { arms: 3 } },
    { ...v1, subresource: 'tune' },
  );
  expect(tuned).toMatchObject({ spec: { arms: 3 }, status: { arms: 3 } });
});

it('a kind cannot declare a subresource without a descriptor', () => {
  const kind = { ...Robot, plural: 'others' };
  expect(() => new Registry([kind], allSubresources)).toThrow('kind Robot declares the unknown subresource camera');
  const registry = new Registry([], allSubresources);
  expect(() => registry.add(kind)).toThrow();
  expect([...registry.kinds, ...registry.apiVersions]).toEqual([]);
});
