import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { newKey } from './certificate.ts';
import { newRequest } from './new-request.ts';
import { parseRequest } from './request.ts';

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
