/** Logs over WebSockets, as browsers read them. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { NodeConnection } from '../../src/server/outbound/nodes/connection.ts';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

const PATH = '/api/v1/namespaces/default/pods/web/log';
const LARGE = Buffer.alloc(3_000_000, 'x\n');

let running: StreamServer;
/** Requests that read a log as it grows. */
let followers = 0;

beforeAll(async () => {
  const logs: NodeConnection['logs'] = async ({ follow, tailLines, signal }) =>
    (async function* () {
      if (follow) followers++;
      if (tailLines === 1) yield Buffer.from('alive\n');
      else yield LARGE;
      if (!follow) return;
      await once(signal!, 'abort');
      followers--;
    })();
  running = await startStreamServer({ ...hostNode(), logs });
  await running.createPod('web');
});

afterAll(() => running.stop());

function open(query: string, protocols: string[]): WebSocket {
  const { port, ca } = running;
  const headers = { authorization: 'Bearer admin' };
  return new WebSocket(`wss://127.0.0.1:${port}${PATH}?${query}`, protocols, { headers, ca });
}

async function read(query: string, protocols: string[]) {
  const socket = open(query, protocols);
  const messages: Buffer[] = [];
  const texts: boolean[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    messages.push(data);
    texts.push(!isBinary);
  });
  const [code] = await once(socket, 'close');
  return { protocol: socket.protocol, messages, texts: new Set(texts), code };
}

it.each([[['binary.k8s.io']], [[]]])('sends binary messages after an empty one, for %j', async (protocols) => {
  const { protocol, messages, texts, code } = await read('tailLines=1', protocols);
  expect({ protocol, code, texts }).toEqual({ protocol: protocols[0] ?? '', code: 1000, texts: new Set([false]) });
  expect(messages.map(String)).toEqual(['', 'alive\n']);
});

it('sends base64 in text messages, if it is asked to', async () => {
  const { messages, texts } = await read('tailLines=1', ['base64.binary.k8s.io']);
  expect(texts).toEqual(new Set([true]));
  expect(messages.map(String)).toEqual(['', Buffer.from('alive\n').toString('base64')]);
});

it('sends long logs whole', async () => {
  const { messages } = await read('', ['binary.k8s.io']);
  expect(Buffer.concat(messages).equals(LARGE)).toBe(true);
});

it('ends when the client leaves', async () => {
  const socket = open('follow=true&tailLines=1', ['binary.k8s.io']);
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => data.length > 0 && resolve());
  });
  expect(followers).toBe(1);
  socket.close();
  await expect.poll(() => followers).toBe(0);
});

it('rejects protocols that it does not know', async () => {
  const [error] = await once(open('', ['v5.channel.k8s.io']), 'error');
  expect(String(error)).toContain('400');
});
