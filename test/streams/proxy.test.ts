/** Proxies to pods and services, over HTTP/1.1 and through the old paths. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

let running: StreamServer;
let program: Server;
let port: number;

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
  const sockets = new WebSocketServer({ server: program });
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`echo ${message}`)));
  program.listen(0, '0.0.0.0');
  await once(program, 'listening');
  port = (program.address() as AddressInfo).port;
  await running.createPod('web', { containers: [{ name: 'c', image: 'host', ports: [{ containerPort: port }] }] });
});

afterAll(async () => {
  program.close();
  program.closeAllConnections();
  await running.stop();
});

function ask(method: string, path: string, { token = 'admin', body = '' } = {}) {
  const { ca } = running;
  return new Promise<{ code: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    // Node does not frame the body of a DELETE by itself.
    const length = body === '' ? {} : { 'content-length': String(body.length) };
    const headers = { authorization: `Bearer ${token}`, 'x-own': 'client', accept: 'text/x-own', ...length };
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

  it.each(['GET', 'POST', 'PUT', 'DELETE'])('may use the old paths: %s', async (method) => {
    const answer = await ask(method, `/api/v1/proxy/namespaces/default/pods/web/x/y?z`);
    expect(JSON.parse(answer.body)).toMatchObject({ method, url: '/x/y?z' });
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

it.skipIf(!address)('reaches an endpoint of a service', async () => {
  const admin = { name: 'admin', groups: ['system:masters'] };
  const create = (plural: string, body: any) =>
    running.server.handle({ verb: 'create', apiVersion: 'v1', plural, namespace: 'default', body, user: admin });
  const update = (plural: string, body: any) =>
    running.server.handle({
      ...{ verb: 'update', apiVersion: 'v1', plural, namespace: 'default', name: 'shop', body, user: admin },
    });
  const metadata = { name: 'shop' };
  await create('services', { metadata, spec: { ports: [{ name: 'web', port: 80, targetPort: port }] } });
  const absent = await ask('GET', '/api/v1/namespaces/default/services/shop/proxy/x');
  expect(JSON.parse(absent.body)).toMatchObject({ code: 404, message: 'endpoints "shop" not found' });
  await create('endpoints', { metadata, subsets: [] });
  const unready = await ask('GET', '/api/v1/namespaces/default/services/shop/proxy/x');
  expect(JSON.parse(unready.body)).toMatchObject({ code: 503, message: 'no endpoints available for service "shop"' });
  const subsets = [{ addresses: [{ ip: address, nodeName: 'n1' }], ports: [{ name: 'web', port }] }];
  await update('endpoints', { metadata, subsets });
  for (const name of ['shop', 'shop:web', 'shop:80', 'http:shop:web']) {
    const { body } = await ask('GET', `/api/v1/namespaces/default/services/${name}/proxy/x?y=z`);
    expect(JSON.parse(body)).toMatchObject({ url: '/x?y=z' });
  }
});
