import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { AssemblyError } from '../assembly-error.ts';
import { openPki, type Pki } from './pki.ts';

const NAMES = ['localhost', '127.0.0.1', '::1', 'fd00:1::beef', '10.96.0.1', 'kubernetes.default.svc.cluster.local'];
const DAY = 24 * 3_600_000;
let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

const open = (names = NAMES, clock: ControlledClock | typeof systemClock = systemClock) =>
  openPki({ directory, names, clock, random: systemRandom });

test('a first start creates an authority and certificates, readable only by the owner', async () => {
  const pki = await open();
  expect([...pki.created].sort()).toEqual([
    'admin certificate',
    'authority',
    'front-proxy authority',
    'front-proxy certificate',
    'service account key',
    'serving certificate',
  ]);
  const authority = new X509Certificate(pki.authority);
  expect(authority.ca).toBe(true);
  expect(authority.verify(authority.publicKey)).toBe(true);
  for (const { certificate, key } of [pki.serving, pki.admin]) {
    const leaf = new X509Certificate(certificate);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkIssued(authority)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
  }
  expect(new X509Certificate(pki.admin.certificate).subject).toBe('O=system:masters\nCN=kubernetes-admin');
  for (const file of await readdir(directory)) expect((await stat(join(directory, file))).mode & 0o077).toBe(0);
});

test('a second start reads the same files and creates nothing', async () => {
  const first = await open();
  const second = await open();
  const told = ({ signing, ...rest }: Pki) => ({ ...rest, certificate: signing.certificate });
  expect(told(second)).toEqual({ ...told(first), created: [] });
});

test('the serving certificate names every name and address', async () => {
  const certificate = new X509Certificate((await open()).serving.certificate);
  for (const address of ['127.0.0.1', '::1', 'fd00:1::beef', '10.96.0.1'])
    expect(certificate.checkIP(address)).toBe(address);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkHost('kubernetes')).toBeUndefined();
});

test('a further name renews the serving certificate alone', async () => {
  const first = await open();
  const second = await open([...NAMES, 'box.example']);
  expect(second.created).toEqual(['serving certificate']);
  expect(second.authority).toBe(first.authority);
  expect(second.admin).toEqual(first.admin);
});

test('certificates that expire soon are renewed, the authority stays', async () => {
  const clock = new ControlledClock();
  await open(NAMES, clock);
  await clock.advance(300 * DAY);
  expect((await open(NAMES, clock)).created).toEqual([]);
  await clock.advance(10 * DAY);
  expect([...(await open(NAMES, clock)).created].sort()).toEqual([
    'admin certificate',
    'front-proxy certificate',
    'serving certificate',
  ]);
});

test('certificates of a lost authority are created again', async () => {
  await open();
  await rm(join(directory, 'ca.crt'));
  expect([...(await open()).created].sort()).toEqual(['admin certificate', 'authority', 'serving certificate']);
});

test('an invalid file is named in the error', async () => {
  await open();
  await writeFile(join(directory, 'ca.key'), 'not a key');
  await expect(open()).rejects.toThrow(AssemblyError);
  await expect(open()).rejects.toThrow(join(directory, 'ca.key'));
});

test('a TLS client that trusts the authority reaches the server, and the server knows the admin', async () => {
  const pki = await open();
  const server = createServer(
    { cert: pki.serving.certificate, key: pki.serving.key, ca: pki.authority, requestCert: true },
    (incoming, response) => {
      const socket = incoming.socket as import('node:tls').TLSSocket;
      response.end(`${socket.authorized} ${socket.getPeerCertificate().subject.CN}`);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const { certificate: cert, key } = pki.admin;
      request({ host: '127.0.0.1', port, ca: pki.authority, cert, key, agent: false }, (response) => {
        response.setEncoding('utf8').once('data', resolve);
      })
        .on('error', reject)
        .end();
    });
    expect(answer).toBe('true kubernetes-admin');
  } finally {
    server.close();
  }
});

test('OpenSSL-style readers see the key usages', async () => {
  const pki = await open();
  const server = new X509Certificate(pki.serving.certificate);
  expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(new X509Certificate(pki.admin.certificate).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(await readFile(join(directory, 'sa.key'), 'utf8')).toBe(pki.serviceAccountKey);
});
