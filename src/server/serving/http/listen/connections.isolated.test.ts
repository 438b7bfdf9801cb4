import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { withResolvers } from '../../../../base/event-loop/with-resolvers.ts';
import { silent } from '../../../../base/log.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { Connections } from './connections.ts';

it.each(['resets', 'closes'])('does not serve a connection whose client %s it during its delay', async (how) => {
  const { promise: turn, resolve: go } = withResolvers<void>();
  const connections = new Connections({
    limits: { maxConnections: 10, maxConnectionsPerAddress: 10 },
    clock: systemClock,
    log: silent,
    pace: () => turn,
  });
  const served: Socket[] = [];
  const server = createServer((socket) => connections.admit(socket, () => served.push(socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  client.write('something');
  if (how === 'resets') client.resetAndDestroy();
  else client.destroySoon();
  await new Promise((resolve) => socket.once('close', resolve));
  go();
  await turn;
  expect(served).toEqual([]);
  expect([...connections.lines()].join()).toContain('apiserver_open_connections 0');
  server.close();
});
