import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { STRICT_GUARD } from '../../base/sockets/dial/dial-guard.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { runHook } from './hook.ts';

const options = (over: object = {}) => ({
  ...{ id: 'c1', address: '127.0.0.1', userAgent: 'u', clock: systemClock, timeoutMs: 5_000 },
  ...{ isOnNodeNetwork: false, guard: STRICT_GUARD },
  container: { name: 'c', image: 'i' } as never,
  runtime: { run: async () => ({ exitCode: 2, stdout: Buffer.from('why'), stderr: Buffer.alloc(0) }) },
  signal: new AbortController().signal,
  ...over,
});

test('a command that fails is an error with its output', async () => {
  const hook = { exec: { command: ['a', 'b'] } } as never;
  await expect(runHook(hook, options())).rejects.toThrow("command 'a b' exited with 2: why");
});

test('a command with a zero byte is not run', async () => {
  const hook = { exec: { command: ['a', 'b\0c'] } } as never;
  await expect(runHook(hook, options())).rejects.toThrow('command[1] contains a zero byte');
});

test('HTTP: any response will do, none will not', async () => {
  const server = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hook = { httpGet: { port: (server.address() as AddressInfo).port } } as never;
  await runHook(hook, options());
  server.close();
  await once(server, 'close');
  await expect(runHook(hook, options())).rejects.toThrow('connection refused');
  await expect(runHook({ tcpSocket: (hook as any).httpGet } as never, options())).rejects.toThrow('connection refused');
});

test('sleep takes its time, unless nobody waits any more', async () => {
  const clock = new ControlledClock();
  let isDone = false;
  const hook = { sleep: { seconds: 3 } } as never;
  const done = runHook(hook, options({ clock })).then(() => {
    isDone = true;
  });
  await clock.advance(2_999);
  expect(isDone).toBe(false);
  await clock.advance(1);
  await done;
  const ended = new AbortController();
  const waiting = runHook(hook, options({ clock, signal: ended.signal }));
  ended.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('a hook of a pod without the network of the node does not reach what listens on the node', async () => {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const pod = options({ address: '192.0.2.9' });
  for (const hook of [{ httpGet: at }, { tcpSocket: at }]) {
    await expect(runHook(hook as never, pod)).rejects.toThrow('address not allowed: 127.0.0.1 is a loopback address');
    await runHook(hook as never, { ...pod, isOnNodeNetwork: true });
  }
  server.close();
});
