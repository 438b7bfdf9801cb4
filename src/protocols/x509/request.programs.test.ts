import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { systemRandom } from '../../base/random.ts';
import { newIssuer, newKey, signCertificate } from './certificate.ts';
import { DerError, element, integer, oid, sequence, set, tagged } from './der.ts';
import { pemBlocks, pemOf } from './pem.ts';
import { newRequest, type ParsedRequest, parseRequest } from './request.ts';

function openssl(subject: string, names: string | undefined): string {
  const asked = names === undefined ? [] : ['-addext', `subjectAltName=${names}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '/dev/null'];
  return execFileSync('openssl', ['req', '-new', ...key, '-subj', subject, ...asked], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

it('reads the subject and all types of names of a request made by OpenSSL', () => {
  const pem = openssl(
    '/O=system:nodes/O=extra/CN=system:node:a',
    'DNS:a.example,DNS:b.example,IP:10.0.0.1,IP:fd00:0:0:0:0:0:0:1,email:a@b.example,URI:spiffe://x/y',
  );
  expect(parseRequest(pem)).toMatchObject({
    commonName: 'system:node:a',
    organizations: ['system:nodes', 'extra'],
    keyType: 'ec',
    dnsNames: ['a.example', 'b.example'],
    addresses: ['10.0.0.1', 'fd00::1'],
    emails: ['a@b.example'],
    uris: ['spiffe://x/y'],
  });
});

it('reads a request without names', () => {
  expect(parseRequest(openssl('/CN=ann', undefined))).toMatchObject({
    commonName: 'ann',
    organizations: [],
    names: [],
  });
});

it('rejects text that is not a request', () => {
  expect(() => parseRequest('hello')).toThrow('PEM block type must be CERTIFICATE REQUEST');
  const cut = `-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n`;
  expect(() => parseRequest(cut)).toThrow(DerError);
});

it('rejects a request that is larger than any real one', () => {
  const large = pemOf('CERTIFICATE REQUEST', element(0x30, Buffer.alloc(64 * 1024)));
  expect(() => parseRequest(large)).toThrow('x509: the request has more than 65536 bytes');
});

describe('ambiguous requests are rejected', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const part = (type: string, tag: number, value: Buffer) => set(sequence(oid(type), element(tag, value)));
  const request = (...parts: Buffer[]) =>
    pemOf(
      'CERTIFICATE REQUEST',
      sequence(sequence(integer(Buffer.of(0)), sequence(...parts), spki, tagged(0, Buffer.of()))),
    );
  const cn = (text: string, tag = 0x0c) => part('2.5.4.3', tag, Buffer.from(text));

  it('reads one name, in each of the three text types', () => {
    for (const tag of [0x0c, 0x13, 0x16]) expect(parseRequest(request(cn('ann', tag))).commonName).toBe('ann');
  });

  it.each([
    ['two common names', request(cn('system:kube-controller-manager'), cn('system:node:a'))],
    ['text of two bytes a character', request(part('2.5.4.3', 0x1e, Buffer.from('\0a\0b')))],
    ['text of an odd number of bytes', request(part('2.5.4.3', 0x1e, Buffer.from('abc')))],
    ['text of a telex', request(cn('ann', 0x14))],
    ['text that is none', request(part('2.5.4.3', 0x0c, Buffer.of(0xff, 0xfe)))],
    ['a zero', request(cn('ann\0.example'))],
    ['a line break', request(cn('ann\nO=system:masters'))],
  ])('%s', (_, pem) => {
    expect(() => parseRequest(pem)).toThrow(DerError);
  });
});

it('rejects a corrupted request, or reads it as other programs read the certificate made from it', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const subject = { commonName: 'system:node:a', organization: 'system:nodes' };
  const der = pemBlocks(newRequest({ subject, names: ['a', '10.0.0.1', 'fd00::1'] }, privateKey)).next().value!.bytes;
  const issuer = newIssuer({ commonName: 'ca' }, privateKey);
  const change = fc.record({ at: fc.nat(der.length - 1), byte: fc.integer({ min: 0, max: 255 }) });
  let read = 0;
  forAll({ numRuns: 1000 }, fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
    const broken = Buffer.from(der);
    for (const { at, byte } of changes) broken[at] = byte;
    let parsed: ParsedRequest;
    try {
      parsed = parseRequest(pemOf('CERTIFICATE REQUEST', broken));
    } catch (error) {
      expect(error).toBeInstanceOf(DerError);
      return;
    }
    read++;
    const validity = { notBefore: 0, notAfter: 4_000_000_000_000 };
    const content = { ...parsed, ...validity, isAuthority: false, keyUsages: [0], purposes: [] };
    const certificate = new X509Certificate(signCertificate(content, issuer, systemRandom));
    const legacy = certificate.toLegacyObject().subject as Record<string, string | string[] | undefined>;
    expect([legacy.CN ?? []].flat()).toEqual(
      parsed.commonName === '' && legacy.CN === undefined ? [] : [parsed.commonName],
    );
    expect([legacy.O ?? []].flat()).toEqual(parsed.organizations);
    for (const name of parsed.addresses) expect(certificate.checkIP(name)).toBeDefined();
  });
  expect(read).toBeGreaterThan(50);
});

it('creates a request with the given content, which OpenSSL verifies', async () => {
  const { privateKey } = await newKey();
  const subject = { commonName: 'system:node:a', organization: 'system:nodes' };
  const pem = newRequest({ subject, names: ['a', '10.0.0.1'] }, privateKey);
  const text = execFileSync('openssl', ['req', '-verify', '-noout', '-text'], {
    input: pem,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  expect(text).toContain('DNS:a, IP Address:10.0.0.1');
  expect(parseRequest(pem)).toMatchObject({
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    dnsNames: ['a'],
    addresses: ['10.0.0.1'],
  });
  expect(parseRequest(newRequest({ subject }, privateKey)).names).toEqual([]);
});
