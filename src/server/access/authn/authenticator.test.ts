import { describe, expect, it } from 'vitest';
import type { User } from '../../../api/user.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { authenticated } from './authenticated.ts';
import { type Credentials, createAuthenticator, type TokenSource } from './authenticator.ts';
import type { ClientCertificate } from './certificate.ts';
import { passwordFile } from './files/password-file.ts';
import { tokenFile } from './files/token-file.ts';

const clock = new ControlledClock(1000);
const tokens = tokenFile('secret,alice,1,"developers,testers"\nplain,bob,2\n');
const passwords = passwordFile('hunter2,carol,3,admins');

const asked = (credentials: Partial<Credentials>): Credentials => ({
  certificate: undefined,
  authorization: undefined,
  token: undefined,
  ...credentials,
});

const strict = createAuthenticator({ clock, tokens: [tokens], passwords, anonymous: false });
const open = createAuthenticator({ clock, tokens: [tokens], anonymous: true });

const certificate: ClientCertificate = { user: authenticated({ name: 'admin', groups: [] }), expires: 5000 };

describe('tokens', () => {
  it.each(['Bearer secret', 'bearer secret', ' BEARER secret '])('%s is accepted', (authorization) => {
    expect(strict(asked({ authorization }))).toEqual({
      name: 'alice',
      uid: '1',
      groups: ['developers', 'testers', 'system:authenticated'],
    });
  });

  it('may have no groups, and may come from outside the headers', () => {
    expect(strict(asked({ token: 'plain' }))).toEqual({ name: 'bob', uid: '2', groups: ['system:authenticated'] });
  });

  it.each(['Bearer wrong', 'Bearer', 'Bearer ', 'Bearer  secret', 'Bearersecret', 'Digest secret', 'secret'])(
    '%s is not believed',
    (authorization) => {
      expect(() => strict(asked({ authorization }))).toThrow('Unauthorized');
    },
  );

  it('are looked up in every source, in order', async () => {
    const asks: string[] = [];
    const source = (name: string, user: User | undefined, later = false): TokenSource => ({
      userOf() {
        asks.push(name);
        return later ? Promise.resolve(user) : user;
      },
    });
    const dora = authenticated({ name: 'dora', groups: [] });
    const authenticate = createAuthenticator({
      clock,
      tokens: [source('a', undefined), source('b', undefined, true), source('c', dora), source('d', dora)],
      anonymous: true,
    });
    expect(await authenticate(asked({ token: 'x' }))).toBe(dora);
    expect(asks).toEqual(['a', 'b', 'c']);
    const none = createAuthenticator({ clock, tokens: [source('a', undefined, true)], anonymous: true });
    await expect(none(asked({ token: 'x' }))).rejects.toThrow('Unauthorized');
  });
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

it('passwords authenticate users when they are right', () => {
  expect(strict(asked({ authorization: basic('carol:hunter2') }))).toEqual({
    name: 'carol',
    uid: '3',
    groups: ['admins', 'system:authenticated'],
  });
});

it.each(['carol:hunter3', 'carol:', 'nobody:hunter2', 'carol', ''])('a password from "%s" is rejected', (text) => {
  expect(() => strict(asked({ authorization: basic(text) }))).toThrow('Unauthorized');
});

describe('certificates', () => {
  it('take precedence over tokens', () => {
    expect(strict(asked({ certificate, authorization: 'Bearer wrong' }))).toBe(certificate.user);
  });

  it('are rejected if unsigned, but do not hide a valid token', () => {
    const unsigned = { user: undefined, expires: 0 };
    expect(() => open(asked({ certificate: unsigned }))).toThrow('Unauthorized');
    expect(open(asked({ certificate: unsigned, authorization: 'Bearer plain' }))).toMatchObject({ name: 'bob' });
  });

  it('expire while their connection is open', async () => {
    const moving = new ControlledClock(1000);
    const authenticate = createAuthenticator({ clock: moving, tokens: [], anonymous: false });
    expect(authenticate(asked({ certificate }))).toBe(certificate.user);
    await moving.advance(4000);
    expect(() => authenticate(asked({ certificate }))).toThrow('Unauthorized');
  });
});

it('no credentials give an anonymous user if that is allowed', () => {
  expect(open(asked({}))).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] });
  expect(() => strict(asked({}))).toThrow('Unauthorized');
});

it('no credentials differ from wrong credentials', () => {
  expect(() => open(asked({ authorization: 'Bearer wrong' }))).toThrow('Unauthorized');
});
