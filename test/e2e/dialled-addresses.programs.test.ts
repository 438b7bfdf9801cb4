/**
 * Requires that listeners on loopback addresses of the machine are not reached through the API server or the Ingress
 * proxy.
 */
import { once } from 'node:events';
import { chown, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';
import { ask } from './services/ask.ts';

const ANYBODY = 4_321;
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = 'application/merge-patch+json';

let qd: Qd;
let victim: Server;
let asked = 0;
let ports: { readonly victim: number; readonly insecure: number; readonly ingress: number };

beforeAll(async () => {
  victim = createServer((_, response) => {
    asked++;
    response.end('secret');
  }).listen(0, '127.0.0.1');
  await once(victim, 'listening');
  const [insecure, ingress] = await Promise.all([freePort(), freePort()]);
  ports = { victim: (victim.address() as AddressInfo).port, insecure, ingress };
  const directory = await newDirectory();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(directory, ANYBODY, ANYBODY);
  qd = await startQd({
    directory,
    ...(isRoot ? { uid: ANYBODY } : {}),
    flags: [
      ...['--nodes', '1', '--runtime', 'process', '--allow-host-image', '--insecure-port', String(insecure)],
      ...['--ingress-http-port', String(ingress), '--ingress-https-port', '0', '--ingress-allow-external-names'],
    ],
  });
});

afterAll(async () => {
  victim.close();
  await qd?.stop();
  await runQd(
    ['reset', '--data-dir', join(qd.directory, 'data'), '--yes'],
    process.getuid?.() === 0 ? { uid: ANYBODY } : {},
  );
  await rm(qd.directory, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function post(path: string, body: object): Promise<void> {
  const { code, text } = await qd.request('POST', path, { body });
  expect(code, text).toBe(200);
}

const path = (prefix: string, name: string, port: number) => ({
  ...{ path: prefix, pathType: 'Prefix' },
  backend: { service: { name, port: { number: port } } },
});

test('an Ingress to an ExternalName does not lead to loopback addresses, nor to the port without authentication', async () => {
  const { victim: at, insecure } = ports;
  for (const [name, externalName] of Object.entries({ name: 'localhost', address: '127.0.0.1' })) {
    await post('/api/v1/namespaces/default/services', {
      metadata: { name },
      spec: { type: 'ExternalName', externalName },
    });
  }
  const paths = [path('/victim', 'name', at), path('/address', 'address', at), path('/apis', 'name', insecure)];
  await post(INGRESSES, { metadata: { name: 'all' }, spec: { rules: [{ http: { paths } }] } });
  const events = '/api/v1/namespaces/default/events';
  await qd.until(events, ({ reason, message }) => reason === 'ExternalNameNotAllowed' && /IP address/.test(message));
  const over = (asking: string) => ask({ port: ports.ingress, path: asking, headers: { host: 'localhost' } });
  await expect.poll(async () => (await over('/victim')).status).toBe(502);
  expect((await over('/address')).status).toBe(503);
  expect((await over('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings')).status).toBe(502);
  expect(asked).toBe(0);
});

const EXTERNAL = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
const external = EXTERNAL.find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test.skipIf(external === undefined)('an Ingress is not reached beyond --bind-address', async () => {
  const to = (host: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(ports.ingress, host);
      socket
        .once('connect', () => resolve('connected'))
        .once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
      socket.once('connect', () => socket.destroy());
    });
  expect(await to('127.0.0.1')).toBe('connected');
  expect(await to(external!)).toBe('ECONNREFUSED');
  expect(qd.output()).toContain(`${external}:`);
  expect(qd.output()).not.toContain(`${external}:${ports.ingress}`);
});

test('pods/proxy does not lead to the loopback address that a status names', async () => {
  const spec = { containers: [{ name: 'c', image: 'host', command: ['sleep', '1000'] }], nodeName: '' };
  const { body: nodes } = await qd.request('GET', '/api/v1/nodes');
  spec.nodeName = nodes.items[0].metadata.name;
  await post(PODS, { metadata: { name: 'web' }, spec });
  await qd.until(PODS, ({ metadata, status }) => metadata.name === 'web' && status.phase === 'Running');
  const body = { status: { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] } };
  // The agent reports the address of the pod again, sooner or later.
  await expect
    .poll(async () => {
      await qd.request('PATCH', `${PODS}/web/status`, { body, type: MERGE });
      const { body: answer } = await qd.request('GET', `${PODS}/web:${ports.victim}/proxy/victim`);
      return answer.message;
    })
    .toBe('address not allowed');
  expect(asked).toBe(0);
});

test('pods/proxy leads to no address but those of the node and its pods', async () => {
  const body = { status: { podIP: '198.51.100.7', podIPs: [{ ip: '198.51.100.7' }] } };
  await expect
    .poll(async () => {
      await qd.request('PATCH', `${PODS}/web/status`, { body, type: MERGE });
      return (await qd.request('GET', `${PODS}/web:80/proxy/`)).body.message;
    })
    .toBe('address not allowed');
});
