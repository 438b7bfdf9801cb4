import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { certificateOf } from './certificate.ts';

const VALID_TO = 'Nov 15 01:00:00 2031 GMT';

function socketWith(subject: object | undefined, authorized = true): TLSSocket {
  const certificate = subject ? { subject, valid_to: VALID_TO } : {};
  return { authorized, getPeerCertificate: () => certificate } as unknown as TLSSocket;
}

it('names the user and the groups', () => {
  expect(certificateOf(socketWith({ CN: 'admin', O: ['system:masters', 'ops'] }))).toEqual({
    user: { name: 'admin', groups: ['system:masters', 'ops', 'system:authenticated'] },
    expires: Date.parse('2031-11-15T01:00:00Z'),
  });
  expect(certificateOf(socketWith({ CN: 'node', O: 'nodes' }))?.user?.groups).toEqual([
    'nodes',
    'system:authenticated',
  ]);
  expect(certificateOf(socketWith({ CN: 'node' }))?.user?.groups).toEqual(['system:authenticated']);
});

it('gives no user without a certificate', () => {
  expect(certificateOf(socketWith(undefined))).toBeUndefined();
});

it('rejects unsigned certificates and those without a name', () => {
  expect(certificateOf(socketWith({ CN: 'admin' }, false))).toMatchObject({ user: undefined });
  expect(certificateOf(socketWith({ O: 'system:masters' }))).toMatchObject({ user: undefined });
});
