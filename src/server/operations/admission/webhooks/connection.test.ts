import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testAuthority } from '../../../../../test/support/tls.ts';
import { DialGuard } from '../../../../base/sockets/dial/dial-guard.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { connectionTo } from './connection.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

let server: Server;
let port: number;
let caBundle: string;
let connections = 0;

beforeAll(async () => {
  const authority = await testAuthority();
  caBundle = Buffer.from(authority.ca).toString('base64');
  server = createServer(await authority.server(), (_, response) => void response.end('answer')).listen(0, '127.0.0.1');
  server.on('connection', () => connections++);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterAll(() => void server.close());

const dialGuard = new DialGuard({
  ownAddresses: () => ['192.0.2.7'],
  allowedRanges: [],
  resolve: (name, done) => done(null, [{ address: name === 'machine.example' ? '192.0.2.7' : '127.0.0.1', family: 4 }]),
});
const post = (host: string) => {
  const { post: send } = connectionTo({ dialGuard } as Ports, { url: `https://${host}:${port}/hook`, caBundle }, 5);
  return send('{}', AbortSignal.timeout(10_000));
};

it.each(['127.0.0.1', 'localhost'])('reaches a webhook whose URL names %s', async (host) => {
  expect(await post(host)).toBe('answer');
});

it.each(['inside.example', 'machine.example', '169.254.169.254', '[fe80::1]', '0.0.0.0', '[::ffff:169.254.169.254]'])(
  'rejects a webhook whose URL leads to this machine or its link by %s',
  async (host) => {
    const before = connections;
    await expect(post(host)).rejects.toThrow('address not allowed');
    expect(connections).toBe(before);
  },
);
