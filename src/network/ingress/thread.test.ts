/** The proxy and its owner at two ends of a channel, as in two threads. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LOOPBACK_GUARD } from '../../../test/support/loopback-guard.ts';
import { type LogFields, type Logger, silent } from '../../base/log.ts';
import { systemClock } from '../../base/time/clock.ts';
import { EMPTY_CONFIG, type IngressConfig } from './config.ts';
import { proxyInThread, type RemoteIngressProxy, serveIngressThread } from './thread.ts';

let channel: MessageChannel;
let proxy: RemoteIngressProxy;
let backend: Server;
let warnings: { message: string; fields: LogFields | undefined }[];

beforeEach(async () => {
  channel = new MessageChannel();
  warnings = [];
  serveIngressThread(channel.port2, systemClock, LOOPBACK_GUARD);
  const log: Logger = { ...silent, warn: (message, fields) => warnings.push({ message, fields }) };
  proxy = proxyInThread(channel.port1, { log, clock: systemClock });
  backend = createServer((_, response) => response.end('from the pod')).listen(0, '127.0.0.1');
  await once(backend, 'listening');
});
afterEach(() => {
  channel.port1.close();
  backend.close();
  backend.closeAllConnections();
});

const rules = (): IngressConfig => ({
  ...EMPTY_CONFIG,
  hosts: new Map([['shop.test', [{ path: '/', type: 'Prefix', backend: 'web' }]]]),
  defaultBackend: 'web',
  backends: new Map([['web', [{ address: '127.0.0.1', port: (backend.address() as AddressInfo).port }]]]),
});

it('follows the rules that its owner sends', async () => {
  const port = await proxy.listen('http', '127.0.0.1', 0);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  await proxy.use(rules());
  const second = await proxy.listen('http', '127.0.0.1', 0);
  for (const each of [port, second]) {
    expect(await (await fetch(`http://127.0.0.1:${each}/`)).text()).toBe('from the pod');
  }
  await proxy.close();
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

it('says why a port cannot be used, and goes on', async () => {
  const { port } = backend.address() as AddressInfo;
  await expect(proxy.listen('https', '127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(await proxy.listen('https', '127.0.0.1', 0)).toBeGreaterThan(0);
  await proxy.close();
});

it('its warnings reach the log of the owner', async () => {
  await proxy.use({ ...rules(), certificates: [{ hosts: ['a.test'], cert: 'nonsense', key: 'nonsense' }] });
  await proxy.close();
  expect(warnings).toMatchObject([
    { message: 'a certificate of an Ingress cannot be used', fields: { hosts: ['a.test'] } },
  ]);
});

it('many rules are sent in parts, and after that only what changes', async () => {
  const sent: number[] = [];
  const post = channel.port1.postMessage.bind(channel.port1);
  channel.port1.postMessage = (message) => {
    sent.push(message.part?.length);
    post(message);
  };
  const port = await proxy.listen('http', '127.0.0.1', 0);
  const many = Array.from(
    { length: 20_000 },
    (_, index) => ({ path: `/${index}`, type: 'Exact', backend: 'web' }) as const,
  );
  const config = { ...rules(), hosts: new Map([['', many]]), defaultBackend: undefined };
  const first = proxy.use(config);
  // Rules that are replaced before they were sent.
  const second = proxy.use({ ...config, defaultBackend: 'none' });
  await Promise.all([first, second, proxy.use(config)]);
  expect(sent.length).toBeGreaterThan(20);
  expect((await fetch(`http://127.0.0.1:${port}/19999`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/none`)).status).toBe(404);
  sent.length = 0;
  await proxy.use({ ...config, backends: new Map([...config.backends, ['other', []]]) });
  expect(sent).toEqual([1]);
  await proxy.close();
});

it('nothing waits for a thread that has ended', async () => {
  const gone = {
    postMessage: () => undefined,
    on: (event: string, listener: (...parameters: never[]) => void) => event === 'exit' && (listener as () => void)(),
  };
  const ended = proxyInThread(gone, { log: silent, clock: systemClock });
  await expect(ended.use(rules())).rejects.toThrow('ended');
  await expect(ended.listen('http', '127.0.0.1', 0)).rejects.toThrow('ended');
});
