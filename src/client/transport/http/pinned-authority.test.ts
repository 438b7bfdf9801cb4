import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../../../../test/support/free-port.ts';
import { pinnedAuthority } from './pinned-authority.ts';

const find = (port: number, limitMs = 10_000) =>
  pinnedAuthority(`https://127.0.0.1:${port}`, `sha256:${'0'.repeat(64)}`, AbortSignal.timeout(limitMs));

async function listening(answer: (socket: Socket) => void) {
  const server = createServer((socket) => answer(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => server.close() };
}

test('explains that a server cannot be reached', async () => {
  const port = await freePort();
  await expect(find(port)).rejects.toThrow(`cannot reach https://127.0.0.1:${port}: the connection was refused`);
});

test('explains that a server does not speak TLS', async () => {
  using server = await listening((socket) => socket.end('SSH-2.0-other\r\n'));
  await expect(find(server.port)).rejects.toThrow(`cannot reach https://127.0.0.1:${server.port}: TLS failed`);
});

test('explains that a server does not respond', async () => {
  using server = await listening(() => {});
  await expect(find(server.port, 50)).rejects.toThrow(/^cannot reach https:.*timeout/);
});
