import { expect, it } from 'vitest';
import { testAuthority } from '../../../../../test/support/tls.ts';
import { secretWarnings } from './secret-warnings.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
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
