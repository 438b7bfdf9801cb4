import { expect, it } from 'vitest';
import { pem, signers, testRequest } from '../../../../../test/support/kinds/test-request.ts';
import { requestProblem } from './signed-request.ts';

/** Changes a bit at the end, which is in the signature. */
function forged(der: Buffer): Buffer {
  const copy = Buffer.from(der);
  copy[copy.length - 1]! ^= 1;
  return copy;
}

it.each([
  ['ECDSA P-256', 'x509: ECDSA verification failure'],
  ['ECDSA P-384', 'x509: ECDSA verification failure'],
  ['Ed25519', 'x509: Ed25519 verification failure'],
  ['RSA', 'crypto/rsa: verification error'],
  ['RSA with salt', 'crypto/rsa: verification error'],
] as const)('a request for a certificate is signed with its own key: %s', (name, failure) => {
  const der = testRequest(signers[name]);
  expect(requestProblem(pem(der))).toBeUndefined();
  expect(requestProblem(pem(forged(der)))).toBe(failure);
});

it('a request for a certificate must be a certificate request in PEM', () => {
  const der = testRequest();
  const wrong = 'PEM block type must be CERTIFICATE REQUEST';
  expect(requestProblem('')).toBe(wrong);
  expect(requestProblem(der.toString('base64'))).toBe(wrong);
  expect(requestProblem(pem(der, 'NEW CERTIFICATE REQUEST'))).toBe(wrong);
  expect(requestProblem(`${pem(der, 'CERTIFICATE')}${pem(der)}`)).toBe(wrong);
});

it.each([
  ['nothing', Buffer.alloc(0), 'asn1: structure error: malformed certificate request'],
  ['half a length', Buffer.of(0x30), 'asn1: syntax error: truncated tag or length'],
  ['too few bytes', Buffer.of(0x30, 0x82, 0x01, 0x00, 0x30), 'asn1: syntax error: data truncated'],
  ['something else', Buffer.of(0x30, 0x03, 0x02, 0x01, 0x00), 'asn1: structure error: malformed certificate request'],
])('a request for a certificate that holds %s is rejected', (_what, der, problem) => {
  expect(requestProblem(pem(der))).toBe(problem);
});

it('a request for a certificate is rejected with any bit changed, and truncated anywhere', () => {
  const der = testRequest();
  for (let bit = 0; bit < der.length * 8; bit++) {
    const copy = Buffer.from(der);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    expect(requestProblem(pem(copy)), `bit ${bit}`).toBeTypeOf('string');
  }
  for (let length = 0; length < der.length; length++) {
    expect(requestProblem(pem(der.subarray(0, length))), `${length} bytes`).toBeTypeOf('string');
  }
});
