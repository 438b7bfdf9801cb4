import { once } from 'node:events';
import { createServer as createHttp, request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AddressNotAllowedError, CLOSED_GUARD, DialGuard, type DialGuardOptions, namesLoopback } from './dial-guard.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Resolves a name to the next list of addresses each time, and counts the lookups. */
function resolving(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve: DialGuardOptions['resolve'] = (hostname, done) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(hostname);
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { asked, resolve };
}

const guard = (over: Partial<DialGuardOptions> = {}) =>
  new DialGuard({ ownAddresses: () => ['192.0.2.7', 'fd00::7'], allowedRanges: [], ...over });

describe('a guard', () => {
  it.each([
    ['127.0.0.1', 'address not allowed: 127.0.0.1 is a loopback address'],
    ['169.254.169.254', 'address not allowed: 169.254.169.254 is a link-local address'],
    ['ff02::1', 'address not allowed: ff02::1 is a multicast or broadcast address'],
    ['0.0.0.0', 'address not allowed: 0.0.0.0 is an unspecified address'],
    ['192.0.2.7', 'address not allowed: 192.0.2.7 is an address of this machine or of the API server'],
    ['::ffff:192.0.2.7', 'address not allowed: ::ffff:192.0.2.7 is an address of this machine or of the API server'],
    ['fd00:0::7', 'address not allowed: fd00:0::7 is an address of this machine or of the API server'],
    ['nonsense', 'address not allowed: nonsense is not an IP address'],
    ['192.0.2.8', undefined],
  ])('explains why %s is rejected', (address, expected) => {
    expect(guard().refusalOf(address)?.message).toBe(expected);
  });

  it('allows special addresses that an object may name', () => {
    expect(guard().refusalOf('127.0.0.1', { loopback: true })).toBeUndefined();
    expect(guard().refusalOf('192.0.2.7', { loopback: true })).toBeDefined();
    expect(guard().refusalOf('192.0.2.7', { own: true })).toBeUndefined();
    expect(guard().refusalOf('127.0.0.1', { own: true })).toBeDefined();
    expect(guard().refusalOf('169.254.1.1', { own: true, loopback: true })).toBeDefined();
  });

  it('allows ranges configured by the operator', () => {
    const lenient = guard({ allowedRanges: ['127.0.0.0/8', '169.254.1.1', '192.0.2.0/24'] });
    for (const address of ['127.0.0.1', '169.254.1.1', '192.0.2.7']) expect(lenient.refusalOf(address)).toBeUndefined();
    for (const address of ['::1', '169.254.1.2']) expect(lenient.refusalOf(address)).toBeDefined();
  });

  it('checks the current addresses of the machine', () => {
    const own = ['192.0.2.7'];
    const following = guard({ ownAddresses: () => own });
    expect(following.refusalOf('192.0.2.9')).toBeUndefined();
    own.push('192.0.2.9');
    expect(following.refusalOf('192.0.2.9')).toBeDefined();
  });
});

describe('a connection', () => {
  it('is rejected for disallowed addresses, for names of them, and when one of several addresses is disallowed', async () => {
    let connections = 0;
    const port = await listening(
      createServer((socket) => {
        connections++;
        socket.destroy();
      }),
    );
    const { resolve, asked } = resolving(['192.0.2.200', '127.0.0.1']);
    for (const host of ['127.0.0.1', '[::1]', '::ffff:127.0.0.1']) {
      await expect(guard().connect({ host, port })).rejects.toThrow(AddressNotAllowedError);
    }
    await expect(guard({ resolve }).connect({ host: 'mixed.example', port })).rejects.toThrow(
      'address not allowed: 127.0.0.1 is a loopback address',
    );
    // Host names as the system resolves them.
    for (const host of ['localhost', '127.1', '2130706433']) {
      await expect(guard().connect({ host, port })).rejects.toThrow(/address not allowed|ENOTFOUND|EAI_AGAIN/);
    }
    expect(asked).toEqual(['mixed.example']);
    expect(connections).toBe(0);
  });

  it('goes to the checked address, without resolving the name again', async () => {
    const port = await listening(createServer((socket) => socket.end()));
    const { resolve, asked } = resolving(['127.0.0.2'], ['169.254.169.254']);
    const socket = await guard({ resolve, allowedRanges: ['127.0.0.2'] })
      .connect({ host: 'rebinding.example', port })
      .catch((error: NodeJS.ErrnoException) => error);
    // Nothing listens there: the test checks only the destination.
    expect(socket).toMatchObject({ code: 'ECONNREFUSED', address: '127.0.0.2' });
    expect(asked).toEqual(['rebinding.example']);
  });

  it('is checked by the lookup of an HTTP request', async () => {
    const port = await listening(createHttp((_, response) => response.end('secret')));
    const { resolve } = resolving(['127.0.0.1']);
    const call = request({ host: 'inside.example', port, lookup: guard({ resolve }).lookup(), agent: false });
    call.end();
    const [error] = await once(call, 'error');
    expect(error).toBeInstanceOf(AddressNotAllowedError);
    const allowed = request({
      ...{ host: 'inside.example', port, agent: false },
      lookup: guard({ resolve }).lookup({ loopback: true }),
    });
    allowed.end();
    const [response] = await once(allowed, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
  });
});

it.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['localhost.example', false],
  ['192.0.2.1', false],
])('%s names loopback: %s', (host, expected) => {
  expect(namesLoopback(host)).toBe(expected);
});

it('a closed guard rejects every address and every name, and resolves none', async () => {
  const { asked, resolve } = resolving(['192.0.2.1']);
  const closed = new DialGuard({ ownAddresses: () => [], allowedRanges: ['192.0.2.0/24'], resolve, isClosed: true });
  await expect(closed.connect({ host: 'name.example', port: 1 }, { own: true, loopback: true })).rejects.toThrow(
    AddressNotAllowedError,
  );
  await expect(closed.connect({ host: '192.0.2.1', port: 1 })).rejects.toThrow('192.0.2.1 is outside');
  expect(asked).toEqual([]);
  expect(CLOSED_GUARD.refusalOf('127.0.0.1', { loopback: true })).toBeInstanceOf(AddressNotAllowedError);
});
