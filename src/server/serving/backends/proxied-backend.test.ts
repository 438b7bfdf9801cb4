/** A backend without kinds of this server takes part in routing, discovery and schemas, and leaves nothing behind. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Answer, askHttp1 } from '../../../../test/support/http-client.ts';
import { type RunningServer, smallRegistry, startServer, TOKEN } from '../../../../test/support/http-server.ts';
import { ApiError } from '../../../api/errors.ts';
import type { Backend, ProxiedRequest } from '../backend.ts';
import type { Exchange } from '../exchange.ts';
import { BackendRegistry } from './backend-registry.ts';

const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const PROTOBUF = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' };
const GAUGES = '/apis/gauges.example.com/v1/namespaces/default/gauges';

/** A fake of an API that is proxied to another server. */
class FakeApi implements Backend {
  readonly apiVersion: string = 'gauges.example.com/v1';
  readonly priority = { group: 100, version: 100 };
  isStale = false;
  verbs = ['get', 'list'];
  readonly requests: (ProxiedRequest & { readonly url: string; readonly body: string })[] = [];

  resources() {
    const subresources = [{ name: 'scale', kind: 'Scale', apiVersion: 'autoscaling/v1', verbs: ['get'] }];
    const names = { plural: 'gauges', singular: 'gauge', kind: 'Gauge', shortNames: ['gg'], categories: [] };
    return [{ ...names, namespaced: true, verbs: this.verbs, hasMoved: false, subresources }];
  }

  async schemas() {
    const paths = { [GAUGES]: { get: { description: 'read gauges', responses: {} } } };
    const definitions = { 'com.example.gauges.v1.Gauge': { type: 'object', description: 'A gauge.' } };
    return {
      v2: async () => ({ paths, definitions, parameters: {} }),
      v3: async () => ({ openapi: '3.0.0', paths, components: { schemas: definitions } }),
    };
  }

  readonly serving = {
    type: 'proxy',
    serve: async (exchange: Exchange, request: ProxiedRequest) => {
      if (request.path.endsWith('/broken')) throw new ApiError('ServiceUnavailable', 'the gauges cannot be reached');
      const body = exchange.hasBody() ? (await exchange.body()).toString() : '';
      this.requests.push({ ...request, url: exchange.url, body });
      exchange.reply(201, 'application/json', Buffer.from('{"kind":"Gauge"}'), ['X-Gauge', 'yes']);
    },
    forward: () => Promise.reject(new Error('nothing in the same process asks for it')),
  } as const;
}

let http: RunningServer;
let api: FakeApi;
let backends: BackendRegistry;
let remove: () => void;

beforeEach(async () => {
  const registry = smallRegistry();
  backends = new BackendRegistry(registry);
  api = new FakeApi();
  remove = backends.add(api);
  http = await startServer({ registry, backends });
});

afterEach(() => http.server.close());

async function ask(path: string, asked: { method?: string; body?: string; headers?: Record<string, string> } = {}) {
  const { port, authority } = http;
  const headers = { authorization: `Bearer ${TOKEN}`, ...asked.headers };
  return askHttp1({ port, ca: authority.ca, path, ...asked, headers });
}

it('a backend receives every request below its group and version, and the one for it', async () => {
  const answer = await ask(`${GAUGES}/one?pretty=true`, { method: 'PUT', body: '{"a":1}' });
  expect([answer.code, answer.json(), answer.headers['x-gauge']]).toEqual([201, { kind: 'Gauge' }, 'yes']);
  await ask('/apis/gauges.example.com/v1');
  await ask('/apis/gauges.example.com/v1/');
  await ask(`${GAUGES}/one/anything/at/all`);
  expect(api.requests.map(({ url, body, user }) => [url, body, user.name])).toEqual([
    [`${GAUGES}/one?pretty=true`, '{"a":1}', 'alice'],
    ['/apis/gauges.example.com/v1', '', 'alice'],
    ['/apis/gauges.example.com/v1/', '', 'alice'],
    [`${GAUGES}/one/anything/at/all`, '', 'alice'],
  ]);
  expect(http.core.calls).toEqual([]);
});

it('a backend receives no request for another version of its group, or of another group', async () => {
  expect((await ask('/apis/gauges.example.com/v2/gauges')).code).toBe(404);
  expect((await ask('/apis/apps/v1/deployments')).code).toBe(200);
  expect(api.requests).toEqual([]);
});

it('a backend receives only authorized requests', async () => {
  await http.server.close();
  const asked: unknown[] = [];
  const authorizer = {
    authorize: async (attributes: object) => {
      asked.push(attributes);
      return { verdict: 'deny', reason: '' } as const;
    },
  };
  http = await startServer({ registry: smallRegistry(), backends, authorizer: authorizer as never });
  expect((await ask(`${GAUGES}/one`, { method: 'DELETE' })).code).toBe(403);
  expect(api.requests).toEqual([]);
  expect(asked).toMatchObject([
    {
      verb: 'delete',
      group: 'gauges.example.com',
      version: 'v1',
      resource: 'gauges',
      namespace: 'default',
      name: 'one',
    },
  ]);
});

it('a backend fails like any other request', async () => {
  const answer = await ask(`${GAUGES}/broken`);
  expect([answer.code, answer.json().message]).toEqual([503, 'the gauges cannot be reached']);
});

it('a backend appears in discovery, in the order of its priority', async () => {
  const groups = (await ask('/apis')).json().groups.map(({ name }: any) => name);
  expect(groups).toEqual(['apps', 'gauges.example.com', 'extensions']);
  expect((await ask('/apis/gauges.example.com')).json()).toMatchObject({
    kind: 'APIGroup',
    preferredVersion: { groupVersion: 'gauges.example.com/v1', version: 'v1' },
  });
  expect((await ask('/')).json().paths).toEqual(
    expect.arrayContaining(['/apis/gauges.example.com', '/apis/gauges.example.com/v1']),
  );
});

it('a backend appears in aggregated discovery with its resources, marked when they may be stale', async () => {
  const item = async () => {
    const { items } = (await ask('/apis', { headers: AGGREGATED })).json();
    return items.find(({ metadata }: any) => metadata.name === 'gauges.example.com').versions[0];
  };
  const row = {
    resource: 'gauges',
    responseKind: { group: 'gauges.example.com', version: 'v1', kind: 'Gauge' },
    scope: 'Namespaced',
    singularResource: 'gauge',
    verbs: ['get', 'list'],
    shortNames: ['gg'],
    subresources: [
      { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get'] },
    ],
  };
  expect(await item()).toEqual({ version: 'v1', resources: [row], freshness: 'Current' });
  api.verbs = ['get'];
  api.isStale = true;
  backends.changed();
  expect(await item()).toEqual({ version: 'v1', resources: [{ ...row, verbs: ['get'] }], freshness: 'Stale' });
});

it('a backend has its part of the published schemas', async () => {
  const v2 = (await ask('/openapi/v2')).json();
  expect(v2.paths).toHaveProperty([GAUGES, 'get', 'description'], 'read gauges');
  expect(v2.paths).toHaveProperty(['/apis/gauges.example.com/', 'get', 'operationId'], 'getGaugesExampleComAPIGroup');
  expect(v2.definitions).toHaveProperty(['com.example.gauges.v1.Gauge', 'description'], 'A gauge.');
  expect(v2.definitions).toHaveProperty(['io.k8s.api.core.v1.Pod']);
  expect((await ask('/openapi/v2', { headers: PROTOBUF })).body.includes('com.example.gauges.v1.Gauge')).toBe(true);
  const { paths } = (await ask('/openapi/v3')).json();
  const { serverRelativeURL } = paths['apis/gauges.example.com/v1'];
  expect((await ask(serverRelativeURL)).json().components.schemas).toHaveProperty(['com.example.gauges.v1.Gauge']);
  const roots = (await ask('/swaggerapi')).json().apis.map((each: any) => each.path);
  expect(roots).toEqual(['/api/v1', '/apis/apps/v1', '/apis/apps/v1beta1', '/apis/extensions/v1beta1']);
});

it('a backend disappears from all documents when it is removed', async () => {
  const everything = async (): Promise<Answer[]> => [
    await ask('/'),
    await ask('/apis'),
    await ask('/apis', { headers: AGGREGATED }),
    await ask('/openapi/v2'),
    await ask('/openapi/v3'),
  ];
  for (const { text } of await everything()) expect(text).toContain('gauges.example.com');
  expect((await ask(`${GAUGES}/one`)).code).toBe(201);
  remove();
  for (const { text } of await everything()) expect(text).not.toContain('gauges.example.com');
  for (const path of [`${GAUGES}/one`, '/apis/gauges.example.com', '/openapi/v3/apis/gauges.example.com/v1']) {
    expect((await ask(path)).code).toBe(404);
  }
  expect(api.requests).toHaveLength(1);
});

it('a backend cannot replace a group and version that is served already', () => {
  const other: Backend = Object.assign(new FakeApi(), { apiVersion: 'apps/v1' });
  expect(() => backends.add(other)).toThrow('apps/v1 is served already');
  expect(() => backends.add(api)).toThrow('gauges.example.com/v1 is served already');
});
