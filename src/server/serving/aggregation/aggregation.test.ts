/** Other API servers behind this one, over real connections. */
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AggregatedServer, RESOURCES, startAggregated } from '../../../../test/support/aggregated-server.ts';
import { askHttp1, askHttp2 } from '../../../../test/support/http-client.ts';
import { type RunningServer, startServer, startWithFrontThread, TOKEN } from '../../../../test/support/http-server.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { testAuthority } from '../../../../test/support/tls.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { ServeProxied } from '../backend.ts';

const NAME = 'v1.gauges.example.com';
const ROOT = '/apis/gauges.example.com/v1';
const GAUGES = `${ROOT}/namespaces/default/gauges`;
const REGISTRATION = { apiVersion: 'apiregistration.k8s.io/v1', namespace: '' };
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';
const SERVICE = { namespace: 'default', name: 'gauges' };
const SUBSETS = [{ addresses: [{ ip: '10.0.0.9', nodeName: 'n1' }], ports: [{ port: 8443 }] }];
const IN_SYSTEM = { namespace: 'kube-system' };
const PROTO = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

let api: TestServer;
let backend: AggregatedServer;
let http: RunningServer;

beforeEach(async () => {
  const authority = await testAuthority('front-proxy-ca');
  const client = await authority.client('front-proxy-client');
  backend = await startAggregated(authority, 'gauges.default.svc');
  const frontProxy = { certificate: client.cert, key: client.key, authority: authority.ca, clientAuthority: 'users' };
  api = await testServer(allKinds, { aggregation: true, frontProxy });
  api.reachNodesBy({ dial: async () => connect({ host: '127.0.0.1', port: backend.port }) } as never);
  http = await serving(startServer);
});

afterEach(async () => {
  await http.server.close();
  api.server.close();
  backend.close();
});

function serving(start: typeof startServer, more: Parameters<typeof startServer>[0] = {}) {
  const { handle, registry, backends } = api.server;
  return start({ handle, registry, backends, ...more });
}

const conditionNow = async () =>
  (await api.get('apiservices', NAME, REGISTRATION)).status.conditions?.find(({ type }: any) => type === 'Available');
/** How long a check may take on a slow machine, in real time. */
const CHECK_TIMEOUT_MS = 10_000;
/** Waits for what the next check finds. Each has time in which the clock does not move: it would end by its own time limit. */
const later = (step: number, expectation: () => Promise<void>) =>
  vi.waitFor(
    async () => {
      await api.clock.advance(step);
      await vi.waitFor(expectation, CHECK_TIMEOUT_MS);
    },
    { timeout: 4 * CHECK_TIMEOUT_MS },
  );
const eventually = <T>(expectation: () => T | Promise<T>) => vi.waitFor(expectation, 15_000);
const reasonIs = (reason: string) => eventually(async () => expect((await conditionNow())?.reason).toBe(reason));

async function expose(): Promise<void> {
  await api.create('services', { metadata: { name: 'gauges' }, spec: { ports: [{ port: 443 }] } });
  await api.create('endpoints', { metadata: { name: 'gauges' }, subsets: SUBSETS });
}

async function register(spec: object = {}, name = NAME): Promise<void> {
  const [version, ...group] = name.split('.');
  const own = { group: group.join('.'), version, groupPriorityMinimum: 100, versionPriority: 100 };
  const body = { metadata: { name }, spec: { ...own, service: SERVICE, caBundle: backend.caBundle, ...spec } };
  await api.create('apiservices', body, REGISTRATION);
}

async function available(): Promise<void> {
  await expose();
  await register();
  await reasonIs('Passed');
}

const asked = (path: string, more: object = {}) => {
  const { headers = {}, ...rest } = more as { headers?: Record<string, string> };
  return {
    ...{ port: http.port, ca: http.authority.ca, path, ...rest },
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  };
};
const ask = (path: string, more: object = {}) => askHttp1(asked(path, more));
/** Sends a request over its own connection, for tests that read the response themselves. */
const send = (options: object) => httpsRequest({ ...options, host: '127.0.0.1', agent: false }).end();

describe('availability', () => {
  it('follows the Service, its endpoints and the responses of the server', async () => {
    await register();
    await reasonIs('ServiceNotFound');
    expect(await conditionNow()).toMatchObject({
      status: 'False',
      message: 'service/gauges in "default" is not present',
    });
    await api.create('services', { metadata: { name: 'gauges' }, spec: { ports: [{ port: 80 }] } });
    await reasonIs('ServicePortError');
    expect((await conditionNow()).message).toBe('service/gauges in "default" is not listening on port 443');
    await api.patch('services', 'gauges', { spec: { ports: [{ port: 443 }] } });
    await reasonIs('EndpointsNotFound');
    await api.create('endpoints', { metadata: { name: 'gauges' } });
    await reasonIs('MissingEndpoints');
    backend.on(ROOT, (_, response) => response.writeHead(500).end());
    await api.patch('endpoints', 'gauges', { subsets: SUBSETS });
    await reasonIs('FailedDiscoveryCheck');
    const url = `https://gauges.default.svc:443${ROOT}`;
    expect((await conditionNow()).message).toBe(`failing or missing response from ${url}: bad status from ${url}: 500`);
    backend.on(ROOT, (_, response) => response.end(JSON.stringify(RESOURCES)));
    await later(5_000, async () => {
      expect((await conditionNow()).reason).toBe('Passed');
    });
    expect(await conditionNow()).toMatchObject({ type: 'Available', status: 'True', message: 'all checks passed' });
    await api.delete('endpoints', 'gauges');
    await reasonIs('EndpointsNotFound');
  });

  it('is checked periodically', async () => {
    await available();
    backend.on(ROOT, (_, response) => response.writeHead(503).end());
    await later(30_000, async () => {
      expect((await conditionNow()).reason).toBe('FailedDiscoveryCheck');
    });
  });

  it('ends when the server switches protocols instead of listing its resources', async () => {
    backend.on(ROOT, ({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    });
    await expose();
    await register();
    await reasonIs('FailedDiscoveryCheck');
    expect((await conditionNow()).message).toContain('the server switched to another protocol');
  });

  it('keeps the conditions of others, and the time of an unchanged status', async () => {
    await available();
    const { lastTransitionTime } = await conditionNow();
    const other = { type: 'Other', status: 'True', reason: 'Mine', message: 'set by somebody' };
    const status = { conditions: [other] };
    await api.patch(
      'apiservices',
      NAME,
      { status },
      { ...REGISTRATION, subresource: 'status', patchType: 'strategic' },
    );
    await api.clock.advance(5000);
    await api.delete('services', 'gauges');
    await reasonIs('ServiceNotFound');
    const { conditions } = (await api.get('apiservices', NAME, REGISTRATION)).status;
    expect(conditions.map(({ type }: any) => type).sort()).toEqual(['Available', 'Other']);
    expect((await conditionNow()).lastTransitionTime).not.toBe(lastTransitionTime);
  });

  it('fails with a certificate that the bundle does not trust, unless verification is off', async () => {
    await expose();
    const { ca } = await testAuthority('another');
    await register({ caBundle: Buffer.from(ca).toString('base64') });
    await reasonIs('FailedDiscoveryCheck');
    expect((await conditionNow()).message).toContain('unable to verify the first certificate');
    await api.patch('apiservices', NAME, { spec: { caBundle: null, insecureSkipTLSVerify: true } }, REGISTRATION);
    await reasonIs('Passed');
  });

  it('fails for a server that does not answer, and for one that never stops', async () => {
    await expose();
    const { promise: reached, resolve: isAsked } = withResolvers<void>();
    backend.on(ROOT, () => isAsked());
    await register();
    await reached;
    await api.clock.advance(5000);
    await reasonIs('FailedDiscoveryCheck');
    expect((await conditionNow()).message).toContain('context deadline exceeded');
    backend.on(ROOT, (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    await api.clock.advance(500);
    await eventually(async () => expect((await conditionNow()).message).toContain('larger than 1048576 bytes'));
  });

  it('responds 503 with the message of Kubernetes while it is unavailable', async () => {
    await register();
    await reasonIs('ServiceNotFound');
    const answer = await ask(GAUGES);
    expect([answer.code, answer.text, answer.headers['content-type']]).toEqual([
      503,
      'service unavailable\n',
      'text/plain; charset=utf-8',
    ]);
  });
});

describe.each([
  ['one thread', startServer],
  ['a front thread', startWithFrontThread],
])('requests through %s', (_, start) => {
  beforeEach(async () => {
    await http.server.close();
    http = await serving(start as typeof startServer);
    await available();
  });

  it.each([
    ['HTTP/1.1', askHttp1],
    ['HTTP/2', askHttp2],
  ])('carry the user over %s, and no user headers of the client', async (_, askOver) => {
    const headers = {
      'x-remote-user': 'admin',
      'X-REMOTE-GROUP': 'system:masters',
      'X-Remote-Uid': '0',
      'X-Remote-Extra-Scopes': 'everything',
      x_remote_user: 'admin',
      'x-remote_group': 'system:masters',
      'x-kept': 'yes',
    };
    const body = '{"kind":"Gauge"}';
    const path = `${GAUGES}/one?pretty=true`;
    const answer = await askOver(asked(path, { method: 'PUT', body, headers }));
    expect([answer.code, answer.json().kind]).toEqual([200, 'APIResourceList']);
    const [seen] = backend.seen;
    expect(seen).toMatchObject({ method: 'PUT', url: path, body, client: 'front-proxy-client' });
    expect(seen!.headers).toMatchObject({ 'x-kept': 'yes', host: 'gauges.default.svc:443' });
    const names = seen!.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => /remote|impersonate|authorization/.test(name)).sort()).toEqual([
      'x-remote-group',
      'x-remote-group',
      'x-remote-group',
      'x-remote-uid',
      'x-remote-user',
    ]);
    expect(seen!.headers['x-remote-user']).toBe('alice');
    expect(seen!.headers['x-remote-group']).toBe('developers, testers, system:authenticated');
  });

  it('stream a watch as it arrives, and end it with its client', async () => {
    let response!: import('node:http').ServerResponse;
    backend.on('/gauges', (_, given) => {
      response = given;
      given.writeHead(200, { 'content-type': 'application/json' });
      given.write('{"type":"ADDED"}\n');
    });
    const client = send(asked(`${GAUGES}?watch=true`));
    const [answer] = await once(client, 'response');
    expect(String((await once(answer, 'data'))[0])).toBe('{"type":"ADDED"}\n');
    response.write('{"type":"MODIFIED"}\n');
    expect(String((await once(answer, 'data'))[0])).toBe('{"type":"MODIFIED"}\n');
    client.on('error', () => undefined);
    answer.on('error', () => undefined);
    client.destroy();
    await once(response, 'close');
  });

  it('switch protocols, and carry bytes in both directions', async () => {
    backend.onUpgrade((_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      socket.on('data', (bytes) => socket.write(`echo ${bytes}`));
      socket.on('end', () => socket.end());
    });
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-remote-user': 'admin' };
    const client = send(asked(`${GAUGES}/one/exec`, { method: 'POST', headers }));
    const [answer, socket] = await once(client, 'upgrade');
    expect([answer.statusCode, answer.headers.upgrade]).toEqual([101, 'SPDY/3.1']);
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('echo hello');
    expect(backend.seen.at(-1)).toMatchObject({ client: 'front-proxy-client', headers: { 'x-remote-user': 'alice' } });
    socket.end();
    await once(socket, 'close');
  });

  it('do not carry a token from a WebSocket protocol', async () => {
    backend.onUpgrade((_, socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const token = Buffer.from(TOKEN).toString('base64url');
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${token}, v5.channel.k8s.io`,
    };
    const client = send({ port: http.port, ca: http.authority.ca, path: `${GAUGES}/one/exec`, headers });
    const [, socket] = await once(client, 'upgrade');
    socket.destroy();
    expect(backend.seen.at(-1)!.headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io');
    expect(JSON.stringify(backend.seen)).not.toContain(token);
  });
});

describe('requests', () => {
  it('keep the headers of the proxy even if Connection names them', async () => {
    await available();
    const headers = { connection: 'close, X-Remote-User, X-Remote-Group' };
    expect((await ask(GAUGES, { headers })).code).toBe(200);
    expect(backend.seen[0]!.headers['x-remote-user']).toBe('alice');
  });

  it.each([`${ROOT}/namespaces/a/../b/gauges`, `${ROOT}/./gauges`, `${ROOT}//gauges`, `${ROOT}/%2e%2e/v2/gauges`])(
    'for %s, which might mean another path there, are not passed on',
    async (path) => {
      await available();
      expect((await ask(path)).code).toBe(404);
      expect(backend.seen).toEqual([]);
    },
  );

  it('are sent again when a kept connection was closed', async () => {
    await available();
    expect((await ask(GAUGES)).code).toBe(200);
    backend.drop();
    expect((await ask(GAUGES)).code).toBe(200);
  });

  it('go to a server that replaces one of our own groups, until it is removed', async () => {
    await expose();
    const name = 'v1beta1.metrics.k8s.io';
    const spec = { service: SERVICE, caBundle: backend.caBundle };
    await api.patch('apiservices', name, { spec }, REGISTRATION);
    await eventually(async () => {
      const { status } = await api.get('apiservices', name, REGISTRATION);
      expect(status.conditions[0].reason).toBe('Passed');
    });
    expect((await ask('/apis/metrics.k8s.io/v1beta1/nodes')).json().kind).toBe('APIResourceList');
    await api.patch('apiservices', name, { spec: { service: null, caBundle: null } }, REGISTRATION);
    expect((await ask('/apis/metrics.k8s.io/v1beta1/nodes')).json().kind).toBe('NodeMetricsList');
    await eventually(async () => {
      const { status } = await api.get('apiservices', name, REGISTRATION);
      expect(status.conditions[0]).toMatchObject({ status: 'True', reason: 'Local' });
    });
  });

  it.each([
    ['v1.', '/api/v1/namespaces/default/configmaps', 'ConfigMapList'],
    ['v1.apps', '/apis/apps/v1/namespaces/default/deployments', 'DeploymentList'],
    ['v1.rbac.authorization.k8s.io', '/apis/rbac.authorization.k8s.io/v1/clusterroles', 'ClusterRoleList'],
  ])('are never forwarded for the built-in %s, whose APIService is restored', async (name, path, kind) => {
    await expose();
    const before = await api.get('apiservices', name, REGISTRATION);
    const taken = { service: SERVICE, caBundle: backend.caBundle };
    for (const labels of [{}, { [AUTOMANAGED]: null }]) {
      await api.patch('apiservices', name, { metadata: { labels }, spec: taken }, REGISTRATION);
      expect((await ask(path)).json().kind).toBe(kind);
      await eventually(async () => {
        const { metadata, spec, status } = await api.get('apiservices', name, REGISTRATION);
        expect([metadata.labels, spec]).toEqual([before.metadata.labels, before.spec]);
        expect(status.conditions).toMatchObject([{ status: 'True', reason: 'Local' }]);
      });
    }
    await api.delete('apiservices', name, REGISTRATION);
    await eventually(async () => expect((await api.get('apiservices', name, REGISTRATION)).spec).toEqual(before.spec));
    expect(backend.seen.filter(({ url }) => url.startsWith(path))).toEqual([]);
  });

  it('are not forwarded for further versions of a built-in group either', async () => {
    await expose();
    await register({ groupPriorityMinimum: 20_000, versionPriority: 1000 }, 'v9.apps');
    await eventually(async () => {
      const { status } = await api.get('apiservices', 'v9.apps', REGISTRATION);
      expect(status.conditions).toMatchObject([
        {
          ...{ status: 'False', reason: 'ServedHere' },
          message: 'group "apps" is served by this server itself, and requests for it are not passed on',
        },
      ]);
    });
    expect((await ask('/apis/apps/v9/deployments')).code).toBe(404);
    expect((await ask('/apis/apps')).json().preferredVersion.version).toBe('v1');
    expect(backend.seen).toEqual([]);
  });

  it('are never forwarded for APIServices themselves', async () => {
    await expose();
    await register({}, 'v1.apiregistration.k8s.io');
    expect((await ask('/apis/apiregistration.k8s.io/v1/apiservices')).json().kind).toBe('APIServiceList');
  });
});

describe('a hostile server', () => {
  beforeEach(() => available());

  it.each([
    ['redirects', 302, 'the backend attempted to redirect this request, which is not permitted'],
    ['answers with a status that HTTP does not have', 999, 'the backend answered with the invalid status 999'],
  ])('costs the caller an error when it %s', async (_, code, text) => {
    backend.on('/gauges', (_, response) => response.writeHead(code, { location: 'https://elsewhere.example/' }).end());
    const answer = await ask(GAUGES);
    expect([answer.code, answer.text]).toEqual([502, `${text}\n`]);
  });

  it('costs the caller an error when it sends giant headers', async () => {
    backend.on('/gauges', ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.end(`X-Large: ${'x'.repeat(100_000)}\r\n\r\n`);
    });
    const answer = await ask(GAUGES);
    expect([answer.code, answer.text]).toEqual([503, expect.stringContaining('error trying to reach service')]);
  });

  it('costs the caller an error when it sends an invalid response, or none', async () => {
    backend.on('/gauges', ({ socket }) => void socket.end('nonsense\r\n\r\n'));
    expect((await ask(GAUGES)).code).toBe(503);
    backend.on('/gauges', ({ socket }) => void socket.destroy());
    expect((await ask(GAUGES)).code).toBe(503);
  });

  it('costs the caller an error when it switches protocols without a request for it', async () => {
    backend.on('/gauges', ({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    });
    const answer = await ask(GAUGES);
    expect([answer.code, answer.text]).toEqual([502, 'the backend switched to a protocol that was not asked for\n']);
  });

  it('costs only the caller the timeout of a request when it hangs before or within its response', async () => {
    await http.server.close();
    http = await serving(startServer, { limits: { requestTimeoutMs: 300 } as never });
    const held: import('node:http').ServerResponse[] = [];
    backend.on('/gauges', (_, response) => void held.push(response));
    const answer = await ask(GAUGES);
    expect([answer.code, answer.json().reason]).toEqual([504, 'Timeout']);
    await eventually(() => expect(held[0]!.destroyed || held[0]!.closed).toBe(true));
    backend.on('/gauges', (_, response) => void response.writeHead(200).write('begun'));
    await expect(ask(GAUGES)).rejects.toThrow();
    expect((await ask('/api/v1/namespaces')).code).toBe(200);
  });

  it('does not delay other requests when requests pile up at it', async () => {
    const dial = () => new Promise(() => undefined);
    api.reachNodesBy({ dial } as never);
    const { serving: proxy } = api.server.backends.find('gauges.example.com/v1')!;
    const leave = new AbortController();
    const exchange = { method: 'GET', url: GAUGES, headers: {}, responseHeaders: [], peer: {}, hasBody: () => false };
    const replies: number[] = [];
    const reply = (code: number) => replies.push(code);
    const request = {
      user: { name: 'alice', groups: [] },
      path: GAUGES,
      isLongRunning: false,
      goesOn: () => undefined,
    };
    const serve = () =>
      (proxy as { serve: ServeProxied }).serve(
        { ...exchange, reply, signal: AbortSignal.any([leave.signal]) } as never,
        request,
      );
    const calls = Array.from({ length: 400 }, serve);
    await expect(serve()).rejects.toMatchObject({ reason: 'TooManyRequests' });
    expect((await ask('/api/v1/namespaces')).code).toBe(200);
    leave.abort();
    await Promise.all(calls);
    expect(replies).toHaveLength(400);
    api.reachNodesBy({ dial: async () => connect({ host: '127.0.0.1', port: backend.port }) } as never);
    expect((await ask(GAUGES)).code).toBe(200);
  });
});

describe('discovery', () => {
  const versionNow = async () => {
    const { items } = (await ask('/apis', { headers: AGGREGATED })).json();
    return items.find(({ metadata }: any) => metadata.name === 'gauges.example.com')?.versions[0];
  };

  it('has the resources of the server, and keeps them, marked as stale, while it is unavailable', async () => {
    await available();
    const [row] = (await versionNow()).resources;
    expect(row).toMatchObject({ resource: 'gauges', shortNames: ['gg'], scope: 'Namespaced' });
    expect(row.subresources).toMatchObject([{ subresource: 'scale', responseKind: { group: 'autoscaling' } }]);
    expect((await versionNow()).freshness).toBe('Current');
    const before = (await ask('/apis', { headers: AGGREGATED })).headers.etag;
    await api.delete('services', 'gauges');
    await reasonIs('ServiceNotFound');
    expect(await versionNow()).toMatchObject({ freshness: 'Stale', resources: [{ resource: 'gauges' }] });
    expect((await ask('/apis', { headers: AGGREGATED })).headers.etag).not.toBe(before);
    await api.delete('apiservices', NAME, REGISTRATION);
    expect(await versionNow()).toBeUndefined();
  });

  it('lists groups by priority', async () => {
    await available();
    const groups = async () => (await ask('/apis')).json().groups.map(({ name }: any) => name);
    expect((await groups()).at(-2)).toBe('gauges.example.com');
    await api.patch('apiservices', NAME, { spec: { groupPriorityMinimum: 19_000 } }, REGISTRATION);
    expect((await groups()).indexOf('gauges.example.com')).toBe(1);
  });

  it.each(['{}', '[]', 'nonsense', '{"resources":[1,{"name":"__proto__","kind":"X"},{"name":"a b"},null]}'])(
    'has nothing of a list such as %s',
    async (text) => {
      backend.on(ROOT, (_, response) => response.end(text));
      await available();
      expect(await versionNow()).toEqual({ version: 'v1', resources: [], freshness: 'Current' });
    },
  );
});

const definition = 'com.example.gauges.v1.Gauge';
const publish = (v2: object | string, v3: object | string) => {
  backend.on('/openapi/v2', (_, response) => response.end(typeof v2 === 'string' ? v2 : JSON.stringify(v2)));
  const path = '/openapi/v3/apis/gauges.example.com/v1';
  const index = { paths: { 'apis/gauges.example.com/v1': { serverRelativeURL: `${path}?hash=1` } } };
  backend.on('/openapi/v3', (_, response) => response.end(JSON.stringify(index)));
  backend.on(path, (_, response) => response.end(typeof v3 === 'string' ? v3 : JSON.stringify(v3)));
};

it('schemas include those of the server in both versions', async () => {
  const paths = { [GAUGES]: { get: { description: 'read', responses: {} } }, '/elsewhere': { get: {} } };
  const schema = { type: 'object', properties: { high: { type: 'integer', default: 5, maximum: 7 } } };
  const definitions = { [definition]: schema, 'io.k8s.api.core.v1.Pod': { description: 'not a pod' } };
  publish({ swagger: '2.0', paths, definitions }, { openapi: '3.0.0', components: { schemas: definitions } });
  await available();
  await eventually(async () => {
    const v2 = (await ask('/openapi/v2')).json();
    expect(v2.definitions).toHaveProperty([definition, 'properties', 'high', 'type'], 'integer');
    expect(v2.paths).toHaveProperty([GAUGES]);
    expect(v2.paths).not.toHaveProperty(['/elsewhere']);
    expect(v2.definitions['io.k8s.api.core.v1.Pod'].description).not.toBe('not a pod');
  });
  const v3 = (await ask(`/openapi/v3${ROOT}`)).json();
  expect(v3.components.schemas[definition].properties.high.maximum).toBe(7);
  expect((await ask('/openapi/v2', { headers: { accept: PROTO } })).body.includes(definition)).toBe(true);
});

it('schemas are complete when those of a server are invalid', async () => {
  publish('{"paths":5,"definitions":{"a":7,"b":{"properties":3,"items":[]}},"parameters":[]}', 'nonsense');
  await available();
  await api.clock.advance(60_000);
  expect((await ask('/openapi/v2')).json().definitions).toHaveProperty(['io.k8s.api.core.v1.Pod']);
  expect((await ask('/openapi/v2', { headers: { accept: PROTO } })).code).toBe(200);
  expect((await ask(`/openapi/v3${ROOT}`)).json().openapi).toBe('3.0.0');
});

describe('APIServices of this server', () => {
  it('are listed for every group and version, and available', async () => {
    const listed = await api.list('apiservices', REGISTRATION);
    const items = listed.items.map((item) => JSON.parse(item.json().toString()));
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['v1.', 'v1.apps', 'v2.autoscaling', 'v1beta1.metrics.k8s.io']));
    expect(names).not.toContain('v1.apiregistration.k8s.io');
    for (const { status } of items) {
      expect(status.conditions).toMatchObject([
        { type: 'Available', status: 'True', reason: 'Local', message: 'Local APIServices are always available' },
      ]);
    }
  });

  it('come and go with custom kinds, and are restored when they are deleted or changed', async () => {
    const named = async (name: string) => api.get('apiservices', name, REGISTRATION).catch(({ reason }) => reason);
    const asked = { apiVersion: 'apiextensions.k8s.io/v1', namespace: '' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    await api.create(
      'customresourcedefinitions',
      {
        metadata: { name: 'boats.sea.example' },
        spec: {
          ...{ group: 'sea.example', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' } },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
      asked,
    );
    const name = 'v1.sea.example';
    const spec = { group: 'sea.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 };
    await eventually(async () => expect(await named(name)).toMatchObject({ spec }));
    await api.delete('apiservices', name, REGISTRATION);
    await eventually(async () => expect(await named(name)).toMatchObject({ spec }));
    await api.patch('apiservices', name, { spec: { versionPriority: 7 } }, REGISTRATION);
    await eventually(async () => expect(await named(name)).toMatchObject({ spec }));
    await api.delete('customresourcedefinitions', 'boats.sea.example', asked);
    await eventually(async () => expect(await named(name)).toBe('NotFound'));
  });

  it('are reconciled at the next start, except for one that another server has taken', async () => {
    await api.patch('apiservices', 'v1.apps', { spec: { versionPriority: 7 } }, REGISTRATION);
    await api.patch('apiservices', 'v1beta1.metrics.k8s.io', { spec: { service: SERVICE } }, REGISTRATION);
    const { store, clock } = api;
    const next = await testServer(allKinds, { aggregation: true, store, clock });
    expect((await next.get('apiservices', 'v1.apps', REGISTRATION)).spec.versionPriority).toBe(15);
    const { spec } = await next.get('apiservices', 'v1beta1.metrics.k8s.io', REGISTRATION);
    expect(spec.service).toMatchObject(SERVICE);
    next.server.close();
  });
});

it('publishes in a ConfigMap whose headers other servers may trust, and restores it after any change', async () => {
  const name = 'extension-apiserver-authentication';
  const wanted = {
    'client-ca-file': 'users',
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  };
  expect((await api.get('configmaps', name, IN_SYSTEM)).data).toMatchObject(wanted);
  await api.patch('configmaps', name, { data: { 'requestheader-allowed-names': '[]', own: 'stays' } }, IN_SYSTEM);
  await eventually(async () =>
    expect((await api.get('configmaps', name, IN_SYSTEM)).data).toMatchObject({ ...wanted, own: 'stays' }),
  );
  await api.delete('configmaps', name, IN_SYSTEM);
  await eventually(async () => expect((await api.get('configmaps', name, IN_SYSTEM)).data).toMatchObject(wanted));
});

it('supports the headers of other proxies, which a client cannot send itself', async () => {
  const authority = await testAuthority('front-proxy-ca');
  const headers = { username: ['X-Proxy-User'], group: ['X-Proxy-Group'], extraPrefixes: ['X-Proxy-Extra-'] };
  const others = { authority: 'proxies', names: ['proxy'], headers };
  const { cert, key } = await authority.client('front-proxy-client');
  const identity = { certificate: cert, key, authority: 'own ', clientAuthority: 'users', others };
  await api.server.renewFrontProxy(identity);
  expect((await api.get('configmaps', 'extension-apiserver-authentication', IN_SYSTEM)).data).toEqual({
    'client-ca-file': 'users',
    'requestheader-client-ca-file': 'own proxies',
    'requestheader-allowed-names': '["front-proxy-client","proxy"]',
    'requestheader-username-headers': '["X-Proxy-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Proxy-Group"]',
    'requestheader-extra-headers-prefix': '["X-Proxy-Extra-"]',
  });
  await available();
  const sent = {
    'X-Proxy-User': 'root',
    X_Proxy_Group: 'system:masters',
    'X-Proxy-Extra-Scopes': 'all',
    'X-Mine': 'yes',
  };
  await ask(GAUGES, { headers: sent });
  const { headers: seen } = backend.seen.at(-1)!;
  expect(seen).toMatchObject({ 'x-proxy-user': 'alice', 'x-remote-user': 'alice', 'x-mine': 'yes' });
  expect(seen['x-proxy-group']).toBe(seen['x-remote-group']);
  expect(JSON.stringify(seen)).not.toMatch(/masters|scopes/);
});
