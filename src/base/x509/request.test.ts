import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { DerError } from './der-reader.ts';
import { parseRequest } from './request.ts';

function openssl(subject: string, names: string | undefined): string {
  const asked = names === undefined ? [] : ['-addext', `subjectAltName=${names}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '/dev/null'];
  return execFileSync('openssl', ['req', '-new', ...key, '-subj', subject, ...asked], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

it('reads the subject and all sorts of names of a request that OpenSSL made', () => {
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

it('reads a request that asks for no names', () => {
  expect(parseRequest(openssl('/CN=ann', undefined))).toMatchObject({
    commonName: 'ann',
    organizations: [],
    names: [],
  });
});

it('names what is no request', () => {
  expect(() => parseRequest('hello')).toThrow('PEM block type must be CERTIFICATE REQUEST');
  const cut = `-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n`;
  expect(() => parseRequest(cut)).toThrow(DerError);
});
