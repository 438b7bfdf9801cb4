import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { refuseUpgrade } from './refuse-upgrade.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serving(answer: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

it.each([
  ['and says to which', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
  ['with bytes of the other protocol', 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes'],
])('rejects a request when the server switches protocols, %s', async (_, answer) => {
  const port = await serving(answer);
  for (const agent of [false as const, new Agent({ keepAlive: true })]) {
    const call = request({ host: '127.0.0.1', port, agent });
    refuseUpgrade(call);
    call.end();
    const [error] = await once(call, 'error').catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject({ message: 'the server switched to another protocol' });
  }
});
