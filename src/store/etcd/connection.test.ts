import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { Connection } from './connection.ts';

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
