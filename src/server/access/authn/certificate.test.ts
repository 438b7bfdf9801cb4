import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { testAuthority } from '../../../../test/support/tls.ts';
import { certificateOf } from './certificate.ts';

const read = (socket: TLSSocket) => certificateOf(socket, { ca: '' });

const VALID_TO = 'Nov 15 01:00:00 2031 GMT';

function socketWith(subject: object | undefined, authorized = true): TLSSocket {
  const certificate = subject ? { subject, valid_to: VALID_TO, fingerprint256: 'AB:01:CD' } : {};
  return { authorized, getPeerCertificate: () => certificate } as unknown as TLSSocket;
}

it('names the user and the groups', () => {
  expect(read(socketWith({ CN: 'admin', O: ['system:masters', 'ops'] }))).toEqual({
    user: {
      ...{ name: 'admin', groups: ['system:masters', 'ops', 'system:authenticated'] },
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab01cd'] },
    },
    expires: Date.parse('2031-11-15T01:00:00Z'),
  });
  expect(read(socketWith({ CN: 'node', O: 'nodes' }))?.user?.groups).toEqual(['nodes', 'system:authenticated']);
  expect(read(socketWith({ CN: 'node' }))?.user?.groups).toEqual(['system:authenticated']);
});

it('gives no user without a certificate', () => {
  expect(read(socketWith(undefined))).toBeUndefined();
});

it('rejects unsigned certificates and those without a name', () => {
  expect(read(socketWith({ CN: 'admin' }, false))).toMatchObject({ user: undefined });
  expect(read(socketWith({ O: 'system:masters' }))).toMatchObject({ user: undefined });
});

describe('with authenticating proxies', () => {
  async function shown(signer: 'users' | 'proxies' | 'strangers', name: string) {
    const [users, proxies, strangers] = await Promise.all(['users', 'proxies', 'strangers'].map(testAuthority));
    const signers = { users: users!, proxies: proxies!, strangers: strangers! };
    const authorities = { ca: users!.ca, proxyCa: proxies!.ca };
    const server = createServer({
      ...(await users!.server()),
      ...{ ca: [authorities.ca, authorities.proxyCa], requestCert: true, rejectUnauthorized: false },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const client = connect({ port, host: '127.0.0.1', ca: users!.ca, ...(await signers[signer].client(name)) });
    try {
      const [socket] = await accepted;
      return certificateOf(socket, authorities);
    } finally {
      client.destroy();
      server.close();
    }
  }

  it('a certificate of their authority names a proxy, and never a user', async () => {
    expect(await shown('proxies', 'admin')).toMatchObject({ user: undefined, proxy: 'admin' });
  });

  it('a certificate of the authority of users names a user, and never a proxy', async () => {
    const certificate = await shown('users', 'proxy');
    expect(certificate?.user?.name).toBe('proxy');
    expect(certificate).not.toHaveProperty('proxy');
  });

  it('a certificate of another authority names neither', async () => {
    expect(await shown('strangers', 'admin')).toEqual({ user: undefined, expires: 0 });
  });
});
