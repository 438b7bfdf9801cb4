/** Tests a foreign API server behind the built program. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AggregatedObjects } from '../support/aggregated-objects.ts';
import { type AggregatedServer, startAggregated } from '../support/aggregated-server.ts';
import type { TestAuthority } from '../support/tls.ts';
import { kubectls } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

const run = promisify(execFile);
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const NAME = 'v1.gauges.example.com';
const ROOT = '/apis/gauges.example.com/v1';
const LIST = {
  ...{ kind: 'GaugeList', apiVersion: 'gauges.example.com/v1', metadata: {} },
  items: [{ kind: 'Gauge', apiVersion: 'gauges.example.com/v1', metadata: { name: 'pressure', namespace: 'default' } }],
};

let qd: Qd;
let backend: AggregatedServer;
let objects: AggregatedObjects;

beforeAll(async () => {
  qd = await startQd({ flags: ['--allowed-dial-ranges', '127.0.0.0/8,::1'] });
  const ca = await readFile(join(qd.directory, 'data', 'pki', 'front-proxy-ca.crt'), 'utf8');
  backend = await startAggregated({ ca } as TestAuthority, 'gauges.default.svc');
  objects = new AggregatedObjects(backend);
  backend.on('/gauges', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(LIST));
  });
  const { port } = backend;
  const service = {
    metadata: { name: 'gauges' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  };
  await qd.request('POST', '/api/v1/namespaces/default/services', { body: service });
  const spec = {
    ...{ group: 'gauges.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 },
    ...{ service: { namespace: 'default', name: 'gauges', port }, caBundle: backend.caBundle },
  };
  await qd.request('POST', API_SERVICES, { body: { metadata: { name: NAME }, spec } });
  const isAvailable = ({ type, status }: any) => type === 'Available' && status === 'True';
  await qd.until(
    API_SERVICES,
    ({ metadata, status }) => metadata.name === NAME && Boolean(status?.conditions?.some(isAvailable)),
  );
});

afterAll(async () => {
  backend?.close();
  await qd?.stop();
});

describe.each(kubectls)('kubectl ($name)', ({ program }) => {
  const kubectl = async (...args: string[]) => {
    const env = { ...process.env, HOME: qd.directory, KUBECONFIG: qd.kubeconfig };
    return (await run(program, args, { env })).stdout;
  };

  test('cannot send the built-in API to another server', async () => {
    const service = { namespace: 'default', name: 'gauges', port: backend.port };
    const patch = JSON.stringify({ spec: { service, insecureSkipTLSVerify: true } });
    await kubectl('patch', 'apiservice', 'v1.', '--type=merge', '-p', patch);
    expect(await kubectl('get', 'configmaps', '-n', 'kube-system')).toContain('extension-apiserver-authentication');
    await qd.until(API_SERVICES, ({ metadata, spec }) => metadata.name === 'v1.' && spec.service === undefined);
    expect(await kubectl('get', 'apiservice', 'v1.')).toMatch(/Local +True/);
    expect(backend.seen.filter(({ url }) => url.startsWith('/api/'))).toEqual([]);
  });

  test('lists what the other server has, as if it were ours', async () => {
    expect(await kubectl('api-resources', '--api-group', 'gauges.example.com')).toMatch(/^gauges +gg +.*Gauge$/m);
    expect(await kubectl('get', 'gauges')).toMatch(/^pressure /m);
    expect(await kubectl('get', 'apiservices', NAME)).toMatch(/default\/gauges +True/);
  });
});

test('the other server learns the user from the front proxy, and not from the client', async () => {
  const headers = { 'X-Remote-User': 'somebody', 'X-Remote-Group': 'system:masters' };
  const { code, body } = await qd.request('GET', `${ROOT}/namespaces/default/gauges`, { headers });
  expect({ code, body }).toEqual({ code: 200, body: LIST });
  const seen = backend.seen.at(-1)!;
  expect(seen.client).toBe('front-proxy-client');
  expect(seen.headers['x-remote-user']).not.toContain('somebody');
  expect(seen.headers).not.toHaveProperty('authorization');
});

test('a server that does not answer any more costs its own clients an error, and nobody else anything', async () => {
  backend.on('/gauges', (_, response) => void response.socket?.destroy());
  expect((await qd.request('GET', `${ROOT}/namespaces/default/gauges`)).code).toBeGreaterThanOrEqual(500);
  expect((await qd.request('GET', '/api/v1/namespaces/default')).code).toBe(200);
});

test('a namespace is deleted with the objects of the other server', async () => {
  backend.on('/doomed/gauges', objects.answer);
  objects.put({ name: 'pressure', namespace: 'doomed' });
  objects.put({ name: 'heat', namespace: 'kept' });
  const namespaces = '/api/v1/namespaces';
  await qd.request('POST', namespaces, { body: { metadata: { name: 'doomed' } } });
  await qd.request('DELETE', `${namespaces}/doomed`);
  await qd.untilGone(namespaces, 'doomed');
  expect(objects.names()).toEqual(['heat']);
});

test('its API is gone with the APIService', async () => {
  await qd.request('DELETE', `${API_SERVICES}/${NAME}`);
  await qd.untilGone(API_SERVICES, NAME);
  expect((await qd.request('GET', `${ROOT}/namespaces/default/gauges`)).code).toBe(404);
});
