import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../../test/support/tls.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { mayUseOthers } from './known-servers.ts';
import { readyOf } from './ready-server.ts';

describe('a command', () => {
  let authority: TestAuthority;
  let servers: Server[];
  beforeEach(async () => {
    authority = await testAuthority();
    servers = [];
  });
  afterEach(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  const start = async (code: number): Promise<string> => {
    const server = createServer(await authority.server('127.0.0.1'), (_, response) => response.writeHead(code).end());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const gone = async () => {
    const url = await start(200);
    const server = servers.pop()!;
    await new Promise((resolve) => server.close(resolve));
    return url;
  };
  const chosen = async (server: string, known: readonly string[]) =>
    (await readyOf({ server, ca: authority.ca }, known, systemClock)).server;

  it('uses the server of the kubeconfig while that is ready', async () => {
    const [first, second] = [await start(200), await start(200)];
    expect(await chosen(first, [second, first])).toBe(first);
  });

  it('uses another one when that is gone or not ready', async () => {
    const [dead, unready, ready] = [await gone(), await start(500), await start(200)];
    expect(await chosen(dead, [unready, ready])).toBe(ready);
    expect(await chosen(unready, [dead, ready])).toBe(ready);
  });

  it('leaves the error to the server of the kubeconfig when none is ready', async () => {
    const [dead, other] = [await gone(), await gone()];
    expect(await chosen(dead, [other])).toBe(dead);
  });

  it('trusts no server without a certificate of the authority', async () => {
    const stranger = await testAuthority();
    const server = createServer(await stranger.server('127.0.0.1'), (_, response) => response.end());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const dead = await gone();
    expect(await chosen(dead, [url])).toBe(dead);
  });
});

it.each([
  ['a server of the cluster', {}, true],
  ['a gateway, which has a path', { server: 'https://gateway/clusters/a' }, false],
  ['a server over plain HTTP', { server: 'http://127.0.0.1:8001' }, false],
  ['a server that any authority vouches for', { ca: '' }, false],
  ['a server that nobody vouches for', { insecureSkipTlsVerify: true }, false],
])('%s may be replaced by another one: %#', (_, connection, expected) => {
  expect(mayUseOthers({ server: 'https://127.0.0.1:6443', ca: 'CA', ...connection })).toBe(expected);
});
