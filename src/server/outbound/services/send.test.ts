import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { headProblem, sendForwarded } from './send.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Sends a request to a program that switches protocols. Resolves with the answer and the program's end. */
async function switching(headers: Record<string, string>) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const accepted = once(server, 'connection');
  const over = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [program] = (await accepted) as [Socket];
  program.on('error', () => undefined);
  program.once('data', () => program.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
  const { signal } = new AbortController();
  const client = { method: 'GET', headers, signal, address: '', hasBody: false, body: () => new PassThrough() };
  return { answer: await sendForwarded(client, { host: 'x', path: '/', over }), program };
}

it('closes the connection of a program that switches protocols without a request for it', async () => {
  const { answer, program } = await switching({});
  expect(headProblem(answer, false)).toBe('the backend switched to a protocol that was not asked for');
  await once(program, 'close');
});

it('survives the loss of the connection after a protocol switch', async () => {
  const { answer, program } = await switching({ upgrade: 'x', connection: 'upgrade' });
  const closed = new Promise((resolve) => answer.socket!.on('close', resolve));
  program.resetAndDestroy();
  await closed;
  expect(answer.socket!.destroyed).toBe(true);
});
