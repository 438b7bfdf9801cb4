/** The built program among clients that want too much: others are served, and memory stays. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newDirectory, type Qd, startQd } from './program.ts';

/** Clients that mean no good come from another address of this machine. */
const STRANGER = '127.0.0.2';
const TOKEN = 'visitor-token';
const MAPS = '/api/v1/namespaces/default/configmaps';

let directory: string;
let qd: Qd;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  directory = await newDirectory();
  const tokens = join(directory, 'tokens.csv');
  await writeFile(tokens, `${TOKEN},visitor,1\n`);
  const flags = [
    ...['--token-auth-file', tokens, '--authorization-mode', 'AlwaysAllow', '--max-connections-per-address', '300'],
    ...['--max-requests-inflight', '20', '--max-mutating-requests-inflight', '10'],
  ];
  qd = await startQd({ directory, flags });
  port = Number(new URL(qd.origin).port);
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await qd.stop();
  await rm(directory, { recursive: true, force: true });
});

function memory(): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${qd.child.pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function metric(name: string): Promise<number> {
  const { text } = await qd.request('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const isServed = async () => expect((await qd.request('GET', '/api/v1/namespaces/default')).code).toBe(200);

function stranger(): Socket {
  const socket = connectTcp({ host: '127.0.0.1', port, localAddress: STRANGER });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

async function strangerTls(): Promise<Socket> {
  const socket = connectTls({ socket: stranger(), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

const head = (line: string, token: string, ...more: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...more].join('\r\n')}\r\n\r\n`;

async function codeOf(socket: Socket): Promise<number> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1]);
}

it('a limited number of thousands of silent connections stays', async () => {
  const before = memory();
  const many = Array.from({ length: 3_000 }, stranger);
  // Not every one gets past the system's own queue.
  while ((await metric('apiserver_refused_connections_total')) < 500) await isServed();
  expect(await metric('apiserver_open_connections')).toBeLessThanOrEqual(310);
  await isServed();
  expect(memory() - before).toBeLessThan(100);
  for (const socket of many) socket.destroy();
  while ((await metric('apiserver_open_connections')) > 10) await isServed();
});

it('bodies that never come keep nobody from writing', async () => {
  const slow = await Promise.all(Array.from({ length: 200 }, strangerTls));
  const type = 'Content-Type: application/json';
  for (const socket of slow) socket.write(`${head(`POST ${MAPS}`, TOKEN, type, 'Content-Length: 1000')}{"metadata":`);
  // 200 are more than the seats of their level; another user of it is served all the same.
  const other = await strangerTls();
  const body = JSON.stringify({ metadata: { name: 'quick' } });
  other.write(`${head(`POST ${MAPS}`, TOKEN, type, `Content-Length: ${body.length}`)}${body}`);
  expect(await codeOf(other)).toBe(200);
  await isServed();
  for (const socket of [...slow, other]) socket.destroy();
});

it('a flood of wrong tokens is turned away, and others are served', async () => {
  const before = memory();
  const clients = await Promise.all(Array.from({ length: 50 }, strangerTls));
  let rejected = 0;
  for (const client of clients) {
    const ask = () => client.write(head('GET /api/v1/namespaces', 'wrong'));
    client.on('data', (chunk: Buffer) => {
      if (!chunk.includes('HTTP/1.1 401')) return;
      rejected++;
      ask();
    });
    ask();
  }
  for (let i = 0; i < 200; i++) await isServed();
  while (rejected < 2_000) await isServed();
  for (const client of clients) client.destroy();
  expect(memory() - before).toBeLessThan(150);
});

it('a thousand requests at once on one connection are answered, each for itself', async () => {
  const session = connectHttp2(qd.origin, { rejectUnauthorized: false });
  const headers = { ':path': '/api/v1/namespaces/default', authorization: `Bearer ${TOKEN}` };
  const answers = Array.from({ length: 1_000 }, async () => {
    const stream = session.request(headers);
    const [answer] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return answer[':status'];
  });
  for (let i = 0; i < 20; i++) await isServed();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  session.close();
});

it('metrics and headers tell to which schema and level a request belonged', async () => {
  const schemas = await qd.request('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt');
  expect(schemas.headers['x-kubernetes-pf-flowschema-uid']).toBe(schemas.body.metadata.uid);
  const { text } = await qd.request('GET', '/metrics');
  expect(text).toMatch(/apiserver_flowcontrol_dispatched_requests_total\{flow_schema="global-default",.*\} [1-9]/);
});
