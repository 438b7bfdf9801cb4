/** Tests malformed answers of programs in pods: anything that HTTP does not allow is reported, and never passed on. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

let running: StreamServer;
let program: Server;
/** Answer of the program. */
let answer = '';

beforeAll(async () => {
  running = await startStreamServer(hostNode());
  program = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer, 'latin1'));
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const { port } = program.address() as AddressInfo;
  await running.createPod('web', { containers: [{ name: 'c', image: 'host', ports: [{ containerPort: port }] }] });
});

afterAll(async () => {
  program.close();
  await running.stop();
});

const PATH = '/api/v1/namespaces/default/pods/web/proxy/x';
const AUTHORIZATION = { authorization: 'Bearer admin' };

async function overHttp1() {
  const call = request({ host: '127.0.0.1', port: running.port, ca: running.ca, path: PATH, headers: AUTHORIZATION });
  call.end();
  const [response] = await once(call, 'response');
  return { code: response.statusCode, headers: response.headers, body: await text(response) };
}

async function overHttp2() {
  const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.ca });
  try {
    const call = session.request({ ':path': PATH, ...AUTHORIZATION });
    const [headers] = await once(call, 'response');
    return { code: headers[':status'], headers, body: await text(call) };
  } finally {
    session.close();
  }
}

it.each(['000', '099', '101', '600', '999'])('an answer with the status %s is an error', async (status) => {
  answer = `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`;
  for (const ask of [overHttp1, overHttp2]) {
    const { code, body } = await ask();
    expect([code, JSON.parse(body).message]).toEqual([503, `the backend answered with the invalid status ${+status}`]);
  }
});

it('a protocol that nobody asked for is an error', async () => {
  answer = 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  for (const ask of [overHttp1, overHttp2]) expect((await ask()).code).toBe(503);
});

it('headers are repeated over HTTP/2 where that is possible, and joined otherwise', async () => {
  const names = ['Location', 'Date', 'Content-Type', 'Set-Cookie', 'X-Own', 'Constructor'];
  const lines = names.flatMap((name) => [`${name}: a`, `${name}: b`]);
  answer = `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nHTTP2-Settings: x\r\nContent-Length: 2\r\n\r\nok`;
  expect((await overHttp1()).code).toBe(200);
  const { code, headers, body } = await overHttp2();
  expect({ code, body }).toEqual({ code: 200, body: 'ok' });
  expect(headers).toMatchObject({
    date: 'a, b',
    'content-type': 'a, b',
    'set-cookie': ['a', 'b'],
    constructor: 'a, b',
  });
  expect(headers['http2-settings']).toBeUndefined();
});
