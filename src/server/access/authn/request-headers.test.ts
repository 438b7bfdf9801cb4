import { describe, expect, it } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { authenticated } from './authenticated.ts';
import { type Credentials, createAuthenticator } from './authenticator.ts';
import type { ClientCertificate } from './certificate.ts';
import { type RequestHeaderOptions, requestHeaderUser } from './request-headers.ts';

const DEFAULTS: RequestHeaderOptions = {
  allowedNames: ['proxy'],
  usernameHeaders: ['X-Remote-User', 'X-Name'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};
const FUTURE = 5_000;
const PROXY: ClientCertificate = { user: undefined, proxy: 'proxy', expires: FUTURE };
const NAMED = { 'x-remote-user': 'alice' };

function userOf(credentials: Partial<Credentials>, options: Partial<RequestHeaderOptions> = {}) {
  const proxied = requestHeaderUser({ ...DEFAULTS, ...options });
  const authenticate = createAuthenticator({
    clock: new ControlledClock(1_000),
    tokens: [],
    anonymous: false,
    proxied,
  });
  return authenticate({ certificate: undefined, authorization: undefined, token: undefined, ...credentials });
}

it('a proxy names the user, the groups and extra values', () => {
  const headers = {
    ...{ 'x-remote-user': 'alice', 'x-remote-group': 'dev, ops' },
    ...{ 'x-remote-extra-scopes': 'a, b', 'x-remote-extra-acme.com%2fproject': 'p' },
  };
  expect(userOf({ certificate: PROXY, headers })).toEqual({
    name: 'alice',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { scopes: ['a', 'b'], 'acme.com/project': ['p'] },
  });
});

it('the first header with a value names the user, undivided and in UTF-8', () => {
  expect(userOf({ certificate: PROXY, headers: { 'x-name': 'bob' } })).toMatchObject({ name: 'bob' });
  expect(userOf({ certificate: PROXY, headers: { ...NAMED, 'x-name': 'bob' } })).toMatchObject({ name: 'alice' });
  expect(userOf({ certificate: PROXY, headers: { 'x-name': 'admin, bob' } })).toMatchObject({ name: 'admin, bob' });
  const name = Buffer.from('zoë').toString('latin1');
  expect(userOf({ certificate: PROXY, headers: { 'x-name': name } })).toMatchObject({ name: 'zoë' });
});

describe('request headers are not trusted', () => {
  const admin = authenticated({ name: 'admin', groups: [] });

  it('without a certificate', () => {
    expect(() => userOf({ headers: NAMED })).toThrow('Unauthorized');
  });

  it('with the certificate of a user, who stays that user', () => {
    expect(userOf({ certificate: { user: admin, expires: FUTURE }, headers: NAMED })).toBe(admin);
  });

  it('of a proxy with another name, unless all are allowed', () => {
    const certificate = { ...PROXY, proxy: 'other' };
    expect(() => userOf({ certificate, headers: NAMED })).toThrow('Unauthorized');
    expect(userOf({ certificate, headers: NAMED }, { allowedNames: [] })).toMatchObject({ name: 'alice' });
  });

  it('of a proxy whose certificate has expired', () => {
    expect(() => userOf({ certificate: { ...PROXY, expires: 500 }, headers: NAMED })).toThrow('Unauthorized');
  });

  it('of a proxy that names no user: it is not the user of its name', () => {
    expect(() => userOf({ certificate: PROXY, headers: { 'x-remote-group': 'system:masters' } })).toThrow(
      'Unauthorized',
    );
  });
});
