import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { Connection } from './connection.ts';
import { methods } from './methods.ts';

it('connects again when an endpoint accepts a connection and says nothing', async () => {
  const clock = new ControlledClock();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = new Connection({ endpoints: [`http://127.0.0.1:${port}`], clock, timeoutMilliseconds: 60_000 });
  connection.ready().catch(() => undefined);
  const [silent] = (await once(server, 'connection')) as [Socket];
  silent.resume();
  const [closed, next] = [once(silent, 'close'), once(server, 'connection')];
  await clock.advance(3_000);
  await closed;
  expect(silent.destroyed).toBe(true);
  await clock.advance(2_000);
  const [socket] = (await next) as [Socket];
  connection.close();
  socket.destroy();
  server.close();
});

it('gives up a connection that does not answer a request, and uses another endpoint, before the request times out', async () => {
  const clock = new ControlledClock();
  const endpoints = await Promise.all([settled(), settled()]);
  const connection = new Connection({ endpoints: endpoints.map(({ url }) => url), clock, timeoutMilliseconds: 5_000 });
  const first = await connection.ready();
  const calling = connection.call(methods.range, { key: Buffer.from('k') }).catch((error) => error);
  await clock.advance(1_000);
  expect(first.isOpen).toBe(true);
  await clock.advance(1_500);
  expect(await calling).toMatchObject({ name: 'StoreUnavailable' });
  expect(String(await calling)).toContain('does not answer');
  expect(first.isClosed).toBe(true);
  const second = await connection.ready();
  expect(second).not.toBe(first);
  connection.close();
  for (const { server } of endpoints) server.close();
});

/** An endpoint that sends its HTTP/2 settings, and nothing more. */
async function settled() {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.resume().write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
