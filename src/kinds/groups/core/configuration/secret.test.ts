import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { testAuthority } from '../../../../../test/support/tls.ts';
import { Secret, secretWarnings } from './secret.ts';

const secret = (parts: object) => ({ metadata: { name: 's', namespace: 'n' }, ...parts });
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a Secret', () => {
  it('is Opaque unless it says otherwise', () => {
    const { object } = create(Secret, secret({ data: { a: 'aGVsbG8=' } }));
    expect(object).toEqual(secret({ data: { a: 'aGVsbG8=' }, type: 'Opaque' }));
    expect(Secret.selectable?.type?.(object)).toBe('Opaque');
  });

  it('takes texts into its data, where they win', () => {
    const { object } = create(
      Secret,
      secret({ data: { a: 'AAAA', b: 'BBBB' }, stringData: { a: 'é', __proto__x: '' } }),
    );
    expect(object.data).toEqual({ a: base64('é'), b: 'BBBB', __proto__x: '' });
    expect(object).not.toHaveProperty('stringData');
  });

  it('takes texts with hostile keys as data', () => {
    const stringData = JSON.parse('{"__proto__": "x"}');
    const { object } = create(Secret, secret({ stringData }));
    expect(Object.entries(object.data ?? {})).toEqual([['__proto__', base64('x')]]);
  });

  it('keeps its type', () => {
    const { object } = create(Secret, secret({ type: 'example.com/x' }));
    expect(update(Secret, object, secret({ type: 'example.com/y' })).errors).toEqual([
      'type: Invalid value: "example.com/y": field is immutable',
    ]);
  });

  it('does not hand its changed texts to the old one', () => {
    const { object: old } = create(Secret, secret({ data: { a: 'AAAA' } }));
    const { object, errors } = update(Secret, old, secret({ data: old.data, stringData: { b: 'x' } }));
    expect(errors).toEqual([]);
    expect(object.data).toEqual({ a: 'AAAA', b: base64('x') });
    expect(old.data).toEqual({ a: 'AAAA' });
  });

  it('can be locked', () => {
    const { object: old } = create(Secret, secret({ data: { a: 'AAAA' }, immutable: true }));
    expect(update(Secret, old, secret({ stringData: { a: 'y' } })).errors).toEqual([
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });

  it('holds a mebibyte', () => {
    const { errors } = create(Secret, secret({ stringData: { a: 'x'.repeat(1024 * 1024) } }));
    expect(errors).toEqual([]);
    const more = create(Secret, secret({ stringData: { a: 'x'.repeat(1024 * 1024), b: 'y' } }));
    expect(more.errors).toEqual(['data: Too long: may not be more than 1048576 bytes']);
  });

  const redacted = (key: string, words: string) =>
    `data[${key}]: Invalid value: "<secret contents redacted>": ${words}`;
  it.each([
    ['a key that is no file name', { data: { '..': '' } }, ['data[..]: Invalid value: "..": must not be \'..\'']],
    ['an unknown type', { type: 'example.com/x' }, []],
    [
      'a token without an account',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'a token of an account',
      {
        type: 'kubernetes.io/service-account-token',
        metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      },
      [],
    ],
    ['no registry config', { type: 'kubernetes.io/dockerconfigjson' }, ['data[.dockerconfigjson]: Required value']],
    ['an older one', { type: 'kubernetes.io/dockercfg' }, ['data[.dockercfg]: Required value']],
    ['a registry config', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{}' } }, []],
    [
      'a registry config that is empty',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '' } },
      [redacted('.dockerconfigjson', 'unexpected end of JSON input')],
    ],
    [
      'a registry config that is no JSON',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'hunter2' } },
      [redacted('.dockerconfigjson', "invalid character 'h' looking for beginning of value")],
    ],
    [
      'a registry config that is no object',
      { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '[1]' } },
      [redacted('.dockercfg', 'json: cannot unmarshal array into Go value of type map[string]interface {}')],
    ],
    [
      'no user and no password',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    ['an empty password', { type: 'kubernetes.io/basic-auth', data: { password: '' } }, []],
    ['no key', { type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
    [
      'an empty key',
      { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
      ['data[ssh-privatekey]: Required value'],
    ],
    ['no certificate', { type: 'kubernetes.io/tls', data: { 'tls.key': '' } }, ['data[tls.crt]: Required value']],
  ])('with %s is judged', (_what, parts, errors) => {
    expect(create(Secret, secret(parts)).errors).toEqual(errors);
  });

  it('never shows what it holds when it is malformed', () => {
    const parts = { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{"auth": "hunter2' } };
    expect(create(Secret, secret(parts)).errors).toEqual([redacted('.dockercfg', 'invalid JSON')]);
  });
});

const warningsOf = (cert: string, key: string) =>
  secretWarnings({ type: 'kubernetes.io/tls', data: { 'tls.crt': base64(cert), 'tls.key': base64(key) } } as never);

it('a certificate and a key that do not belong together cause a warning', async () => {
  const authority = await testAuthority();
  const [one, other] = [await authority.server(), await authority.server()];
  expect(warningsOf(one.cert, one.key)).toEqual([]);
  expect(warningsOf(one.cert, other.key)).toEqual(['tls: private key does not match public key']);
  expect(warningsOf('none', one.key)).toEqual(['tls: failed to find any PEM data in certificate input']);
  expect(warningsOf(one.cert, '')).toEqual(['tls: failed to find any PEM data in key input']);
  expect(warningsOf(one.cert, one.cert)).toEqual(['tls: failed to parse private key']);
  expect(warningsOf(one.key, one.key)).toEqual(['x509: malformed certificate']);
});

it('other secrets are not looked at', () => {
  expect(secretWarnings({ type: 'Opaque', data: { 'tls.crt': 'eA==' } } as never)).toEqual([]);
});
