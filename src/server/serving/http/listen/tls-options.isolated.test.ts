import { once } from 'node:events';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../../../../test/support/http-server.ts';

let running: RunningServer;
beforeAll(async () => {
  running = await startServer({});
});
afterAll(() => running.server.close());

/** Resolves with the connection, or the error. */
async function handshake(options: ConnectionOptions): Promise<TLSSocket | Error> {
  const socket = connect({ port: running.port, host: '127.0.0.1', ca: running.authority.ca, ...options });
  return once(socket, 'secureConnect').then(
    () => socket,
    (error: Error) => error,
  );
}

it.each(['TLSv1.2', 'TLSv1.3'] as const)('supports %s', async (version) => {
  const socket = await handshake({ minVersion: version, maxVersion: version });
  expect((socket as TLSSocket).getProtocol()).toBe(version);
  (socket as TLSSocket).destroy();
});

it.each(['TLSv1', 'TLSv1.1'] as const)('does not support %s', async (version) => {
  const outcome = await handshake({ minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' });
  expect(outcome).toBeInstanceOf(Error);
});

it.each([
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-ECDSA-AES128-CCM8',
  'AES128-GCM-SHA256',
  'AECDH-AES128-SHA',
])('rejects %s, also after its certificate was renewed', async (suite) => {
  const weak = { maxVersion: 'TLSv1.2', ciphers: `${suite}:@SECLEVEL=0` } as const;
  expect(await handshake(weak)).toBeInstanceOf(Error);
  running.server.renew(await running.authority.server());
  expect(await handshake(weak)).toBeInstanceOf(Error);
});

it('does not renegotiate', async () => {
  const socket = (await handshake({ maxVersion: 'TLSv1.2' })) as TLSSocket;
  const outcome = await new Promise<unknown>((resolve) => {
    socket.on('error', resolve);
    socket.renegotiate({}, (error) => resolve(error ?? 'renegotiated'));
  });
  expect(outcome).toBeInstanceOf(Error);
  socket.destroy();
});
