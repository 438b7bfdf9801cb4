/** Proxies to pods and services, over HTTP/1.1 and through the old paths. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { testAuthority } from '../support/tls.ts';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

let running: StreamServer;
let program: Server;
let port: number;
let secure: Server;
let securePort: number;

beforeAll(async () => {
  running = await startStreamServer(hostNode());
  program = createServer(async (asked, response) => {
    if (asked.url === '/moved') {
      response.writeHead(302, { Location: '/elsewhere' }).end();
      return;
    }
    const { method, url, headers } = asked;
    const said = { method, url, body: await text(asked), authorization: headers.authorization, from: headers['x-own'] };
    response.writeHead(method === 'PUT' ? 418 : 200, { 'Content-Type': 'text/x-own', 'X-Answer': 'yes' });
    response.end(JSON.stringify(said));
  });
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`echo ${message}`)));
  program.on('upgrade', (asked: IncomingMessage, socket: Socket, head) => {
    if (asked.headers.upgrade === 'websocket') {
      sockets.handleUpgrade(asked, socket, head, (ready) => sockets.emit('connection', ready, asked));
      return;
    }
    socket.write(`HTTP/1.1 101 Own\r\nConnection: Upgrade\r\nUpgrade: ${asked.headers.upgrade}\r\n\r\n${asked.url} `);
    socket.pipe(socket);
  });
  secure = createHttpsServer(
    await (await testAuthority()).server(),
    ({ url }, response) => void response.end(`tls ${url}`),
  );
  secure.listen(0, '0.0.0.0');
  await once(secure, 'listening');
  securePort = (secure.address() as AddressInfo).port;
  program.listen(0, '0.0.0.0');
  await once(program, 'listening');
  port = (program.address() as AddressInfo).port;
  await running.createPod('web', { containers: [{ name: 'c', image: 'host', ports: [{ containerPort: port }] }] });
});

afterAll(async () => {
  program.close();
  program.closeAllConnections();
  secure.close();
  secure.closeAllConnections();
  await running.stop();
});

async function status(path: string) {
  return JSON.parse((await ask('GET', path)).body);
}

interface Asked {
  readonly token?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(method: string, path: string, { token = 'admin', body = '', headers: more = {} }: Asked = {}) {
  const { ca } = running;
  return new Promise<{ code: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    // Node does not frame the body of a DELETE by default.
    const length = body === '' ? {} : { 'content-length': String(body.length) };
    const headers = { authorization: `Bearer ${token}`, 'x-own': 'client', accept: 'text/x-own', ...length, ...more };
    const call = request(
      { host: '127.0.0.1', port: running.port, method, path, headers, ca, agent: false },
      (response) => {
        text(response).then(
          (all) => resolve({ code: response.statusCode!, body: all, headers: response.headers }),
          reject,
        );
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

const PODS = '/api/v1/namespaces/default/pods';

describe('a proxied request', () => {
  it.each(['GET', 'POST', 'DELETE', 'PATCH', 'OPTIONS'])('reaches the program in the pod: %s', async (method) => {
    const body = method === 'GET' ? '' : 'some text';
    const answer = await ask(method, `${PODS}/web/proxy/a%20b/c/?q=1&q=2`, { body });
    expect(answer).toMatchObject({ code: 200, headers: { 'content-type': 'text/x-own', 'x-answer': 'yes' } });
    expect(JSON.parse(answer.body)).toEqual({ method, url: '/a%20b/c/?q=1&q=2', body, from: 'client' });
  });

  it('has the code of the program', async () => {
    expect((await ask('PUT', `${PODS}/web/proxy/tea`, { body: 'leaves' })).code).toBe(418);
  });

  it('may be a HEAD', async () => {
    expect(await ask('HEAD', `${PODS}/web/proxy/`)).toMatchObject({
      code: 200,
      body: '',
      headers: { 'x-answer': 'yes' },
    });
  });

  it('names a port, and a scheme', async () => {
    expect((await ask('GET', `${PODS}/web:${port}/proxy/x`)).code).toBe(200);
    expect((await ask('GET', `${PODS}/http:web:${port}/proxy/x`)).code).toBe(200);
    expect((await ask('GET', `${PODS}/web:0/proxy/x`)).code).toBe(400);
  });

  it.each([':80', 'ftp:web:80', 'http:web:80:80', '::'])('has a name of the right form, unlike %s', async (name) => {
    expect(await status(`${PODS}/${name}/proxy/x`)).toMatchObject({
      ...{ code: 400, message: `invalid pod request ${JSON.stringify(name)}` },
    });
  });

  it('reaches a program that speaks TLS, whatever its certificate says', async () => {
    expect(await ask('GET', `${PODS}/https:web:${securePort}/proxy/x?y`)).toMatchObject({
      code: 200,
      body: 'tls /x?y',
    });
  });

  it.each([
    ['parameters that the API has too', '/x?watch=1&limit=abc&dryRun=All&timeoutSeconds=-&pretty=true&path=/other'],
    ['a query that is not encoded', '/x?rate=100%&%zz=%'],
    ['double slashes', '//a//b///'],
    ['encoded characters', '/a%2Fb/%C3%BC/c%20d+e?f=%2F&g=+'],
    ['dots', '/a/../../b/./c'],
    ['a question mark alone', '/?'],
  ])('is passed on unchanged: %s', async (_what, url) => {
    const { body } = await ask('GET', `${PODS}/web/proxy${url}`);
    expect(JSON.parse(body)).toMatchObject({ url });
    const impersonated = await ask('GET', `${PODS}/web/proxy${url}`, {
      headers: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
    });
    expect(JSON.parse(impersonated.body)).toMatchObject({ url });
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('may use the old paths: %s', async (method) => {
    const answer = await ask(method, `/api/v1/proxy/namespaces/default/pods/web/x/y?z`);
    expect(JSON.parse(answer.body)).toMatchObject({ method, url: '/x/y?z' });
  });

  it('may use the old paths without a path, too', async () => {
    const old = '/api/v1/proxy/namespaces/default/pods/web';
    expect(await ask('GET', `${old}?q`)).toMatchObject({ code: 301, headers: { location: `${old}/?q` } });
    expect(await ask('GET', `${old}/moved`)).toMatchObject({ code: 302, headers: { location: `${old}/elsewhere` } });
    expect(await ask('HEAD', `${old}/`)).toMatchObject({ code: 200, headers: { 'x-answer': 'yes' } });
  });

  it('without a path is redirected, and redirects stay in the proxy', async () => {
    expect(await ask('GET', `${PODS}/web/proxy?q`)).toMatchObject({
      code: 301,
      headers: { location: `${PODS}/web/proxy/?q` },
    });
    expect(await ask('GET', `${PODS}/web/proxy/moved`)).toMatchObject({
      ...{ code: 302, headers: { location: `${PODS}/web/proxy/elsewhere` } },
    });
  });

  it('takes its path from the query, too', async () => {
    const answer = await ask('GET', `${PODS}/web/proxy?path=/from/query`);
    expect(JSON.parse(answer.body)).toMatchObject({ url: '/from/query?path=/from/query' });
  });

  it('may become a WebSocket', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${running.port}${PODS}/web/proxy/socket`, {
      ...{ ca: running.ca, headers: { authorization: 'Bearer admin' } },
    });
    await once(socket, 'open');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('echo hello');
    socket.close();
    await once(socket, 'close');
  });

  it.each(['/proxy/own?q', '/proxy'])('may become another protocol: %s', async (path) => {
    const call = request({
      ...{ host: '127.0.0.1', port: running.port, path: `${PODS}/web${path}`, ca: running.ca, agent: false },
      headers: { authorization: 'Bearer admin', connection: 'Upgrade', upgrade: 'own/1' },
    }).end();
    const [response, socket, head] = await once(call, 'upgrade');
    expect(response).toMatchObject({ statusCode: 101, headers: { upgrade: 'own/1' } });
    socket.unshift(head);
    socket.write('bytes');
    const expected = `${path === '/proxy' ? '/' : '/own?q'} bytes`;
    let received = '';
    for await (const part of socket) {
      received += part;
      if (received.length >= expected.length) break;
    }
    expect(received).toBe(expected);
  });

  it('fails with a Status', async () => {
    expect(JSON.parse((await ask('GET', `${PODS}/absent/proxy/`)).body)).toMatchObject({ reason: 'NotFound' });
    expect(JSON.parse((await ask('GET', `${PODS}/web:1/proxy/`)).body)).toMatchObject({
      ...{ reason: 'ServiceUnavailable', code: 503 },
      message: expect.stringContaining('error trying to reach service: connect ECONNREFUSED'),
    });
    expect((await ask('GET', `${PODS}/web/proxy/`, { token: 'nobody' })).code).toBe(403);
    expect((await ask('GET', '/api/v1/redirect/namespaces/default/pods/web')).code).toBe(404);
  });
});

const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

const admin = { name: 'admin', groups: ['system:masters'] };

function write(verb: 'create' | 'update', plural: string, body: any, namespace: string | undefined = 'default') {
  const { name } = body.metadata;
  const where = { ...(namespace === '' ? {} : { namespace }), ...(verb === 'update' ? { name } : {}) };
  return running.server.handle({ verb, apiVersion: 'v1', plural, body, user: admin, ...where });
}

const SERVICES = '/api/v1/namespaces/default/services';

describe.skipIf(!address)('a proxied request to a service', () => {
  const metadata = { name: 'shop' };
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'shop-1' };

  beforeAll(async () => {
    await running.createPod('shop-1', {}, { podIP: address, podIPs: [{ ip: address }] });
    await write('create', 'services', {
      metadata,
      spec: {
        ports: [
          { name: 'web', port: 80, targetPort: port },
          { name: 'tls', port: 443, targetPort: securePort },
        ],
      },
    });
  });

  it('says that nobody is ready', async () => {
    expect(await status(`${SERVICES}/shop:web/proxy/x`)).toMatchObject({
      code: 404,
      message: 'endpoints "shop" not found',
    });
    await write('create', 'endpoints', { metadata, subsets: [] });
    expect(await status(`${SERVICES}/shop:web/proxy/x`)).toMatchObject({
      ...{
        kind: 'Status',
        code: 503,
        reason: 'ServiceUnavailable',
        message: 'no endpoints available for service "shop"',
      },
    });
  });

  it('reaches one of its pods, by the name or the number of a port', async () => {
    const ports = [
      { name: 'web', port },
      { name: 'tls', port: securePort },
    ];
    await write('update', 'endpoints', {
      metadata,
      subsets: [{ addresses: [{ ip: address, nodeName: 'n1', targetRef }], ports }],
    });
    for (const name of ['shop:web', 'shop:80', 'http:shop:web', ':shop:80']) {
      expect(await status(`${SERVICES}/${name}/proxy/x?y=z`)).toMatchObject({ url: '/x?y=z' });
    }
    for (const name of ['https:shop:tls', 'https:shop:443']) {
      expect((await ask('GET', `${SERVICES}/${name}/proxy/x?y=z`)).body).toBe('tls /x?y=z');
    }
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('has any method: %s', async (method) => {
    for (const path of [`${SERVICES}/shop:web/proxy`, '/api/v1/proxy/namespaces/default/services/shop:web']) {
      const answer = await ask(method, `${path}//a%20b/?q`, { body: 'text' });
      expect(JSON.parse(answer.body)).toMatchObject({ method, url: '//a%20b/?q', body: 'text' });
      expect(await ask('HEAD', `${path}/x`)).toMatchObject({ code: 200, body: '', headers: { 'x-answer': 'yes' } });
    }
  });

  it('may become a WebSocket', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${running.port}${SERVICES}/shop:web/proxy/socket`, {
      ...{ ca: running.ca, headers: { authorization: 'Bearer admin' } },
    });
    await once(socket, 'open');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('echo hello');
    socket.close();
    await once(socket, 'close');
  });

  it('names a port that the service has', async () => {
    expect(await status(`${SERVICES}/shop:81/proxy/x`)).toMatchObject({
      ...{ code: 503, message: 'no service port 81 found for service "shop"' },
    });
    expect(await status(`${SERVICES}/shop:absent/proxy/x`)).toMatchObject({
      ...{ code: 503, message: 'no endpoints available for service "shop:absent"' },
    });
    expect(await status(`${SERVICES}/absent/proxy/x`)).toMatchObject({
      code: 404,
      message: 'services "absent" not found',
    });
    expect(await status(`${SERVICES}/:80/proxy/x`)).toMatchObject({
      code: 400,
      message: 'invalid service request ":80"',
    });
  });

  it('needs no name of a port when there is one port', async () => {
    const one = { name: 'one' };
    await write('create', 'services', { metadata: one, spec: { ports: [{ name: 'web', port: 80 }] } });
    const subsets = [{ addresses: [{ ip: address, nodeName: 'n1', targetRef }], ports: [{ name: 'web', port }] }];
    await write('create', 'endpoints', { metadata: one, subsets });
    expect(await status(`${SERVICES}/one/proxy/x`)).toMatchObject({ url: '/x' });
  });

  // Users who may write Endpoints could otherwise reach anything that the server or a node reaches.
  it.each([
    ['no pod', undefined],
    ['a pod that does not exist', { ...targetRef, name: 'absent' }],
    ['a pod that has another address', { ...targetRef, name: 'web' }],
    ['a pod of another namespace', { ...targetRef, namespace: 'kube-system' }],
  ])('does not lead to an address of %s', async (_what, target) => {
    const ports = [{ name: 'web', port }];
    await write('update', 'endpoints', {
      metadata,
      subsets: [{ addresses: [{ ip: address, nodeName: 'n1', targetRef: target }], ports }],
    });
    expect(await status(`${SERVICES}/shop:web/proxy/x`)).toMatchObject({
      ...{ code: 503, message: 'no endpoints available for service "shop:web"' },
    });
  });

  it('leads to what serves the system namespace, where administrators write', async () => {
    const ports = [{ name: 'web', port }];
    await write('create', 'services', { metadata, spec: { ports: [{ name: 'web', port: 80 }] } }, 'kube-system');
    await write('create', 'endpoints', { metadata, subsets: [{ addresses: [{ ip: address }], ports }] }, 'kube-system');
    expect(await status('/api/v1/namespaces/kube-system/services/shop:web/proxy/x')).toMatchObject({ url: '/x' });
  });
});

it('a proxied request to a node reaches its ports, also by the old path', async () => {
  await write('create', 'nodes', { metadata: { name: 'n1' } }, '');
  await running.server.handle({
    ...{ verb: 'update', apiVersion: 'v1', plural: 'nodes', name: 'n1', subresource: 'status', user: admin },
    body: { metadata: { name: 'n1' }, status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] } },
  });
  for (const path of [`/api/v1/nodes/n1:${port}/proxy/x?y`, `/api/v1/proxy/nodes/n1:${port}/x?y`]) {
    expect(await status(path)).toMatchObject({ url: '/x?y' });
  }
  expect((await ask('GET', `/api/v1/nodes/https:n1:${securePort}/proxy/x`)).body).toBe('tls /x');
  expect(await status('/api/v1/nodes/:1/proxy/x')).toMatchObject({ code: 400, message: 'invalid node request ":1"' });
});
