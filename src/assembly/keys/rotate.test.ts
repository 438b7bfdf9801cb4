import { createPublicKey, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { authorityHash } from '../../cli/credentials/token/token.ts';
import { pinnedAuthority } from '../../client/transport/http/pinned-authority.ts';
import { AssemblyError } from '../assembly-error.ts';
import { openPki, type Pki } from './pki.ts';
import { keepRenewed } from './renewal.ts';
import type { Rotatable } from './rotatable.ts';
import { forgetFormer, rotate } from './rotate.ts';

const DAY = 24 * 3_600_000;
let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

const open = (clock: ControlledClock | typeof systemClock = systemClock) =>
  openPki({ directory, names: ['localhost', '127.0.0.1'], clock, random: systemRandom });
const turn = (what: Rotatable) => rotate(what, { directory, clock: systemClock, random: systemRandom });

/** Whether a server with the one's certificate and a client with the other's know each other. */
async function meet(server: Pki, caller: Pki): Promise<{ client: boolean; server: boolean }> {
  const { promise: client, resolve: sawClient } = withResolvers<boolean>();
  const listener = createServer(
    {
      cert: server.serving.certificate,
      key: server.serving.key,
      ca: server.authority,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (socket) => {
      sawClient(socket.authorized);
      socket.end();
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const identity = { cert: caller.admin.certificate, key: caller.admin.key, ca: caller.authority };
  const socket = await new Promise<TLSSocket>((resolve) => {
    const made = connect({ host: '127.0.0.1', port, ...identity, rejectUnauthorized: false }, () => resolve(made));
  });
  socket.resume();
  const met = { client: await client, server: socket.authorized };
  socket.destroy();
  listener.close();
  return met;
}

test.each([
  ['serving', 'serving certificate'],
  ['admin', 'admin certificate'],
] as const)('a rotated %s certificate is made anew under the same authority', async (what, made) => {
  const before = await open();
  await turn(what);
  const after = await open();
  expect(after.created).toEqual([made]);
  expect(after.authority).toBe(before.authority);
  expect(await meet(after, before)).toEqual({ client: true, server: true });
});

test('the public half of a rotated token key is kept', async () => {
  const before = await open();
  await turn('service-account-key');
  await turn('service-account-key');
  const after = await open();
  expect(after.serviceAccountKey).not.toBe(before.serviceAccountKey);
  expect(after.formerServiceAccountKeys).toHaveLength(2);
  const old = createPublicKey(before.serviceAccountKey).export({ type: 'spki', format: 'pem' });
  expect(after.formerServiceAccountKeys[1]).toBe(old);
  await forgetFormer(directory);
  expect((await open()).formerServiceAccountKeys).toEqual([]);
});

test('after the authority was rotated, old and new clients and servers trust each other until the old one is forgotten', async () => {
  const before = await open();
  await turn('authority');
  const after = await open();
  expect([...after.created].sort()).toEqual(['admin certificate', 'serving certificate']);
  expect(new X509Certificate(after.authority).subject).toMatch(/^CN=quarterdeck-ca@\d+$/);
  expect(await meet(after, before)).toEqual({ client: true, server: true });
  expect(await meet(after, after)).toEqual({ client: true, server: true });
  for (const file of await readdir(directory)) expect((await stat(join(directory, file))).mode & 0o077).toBe(0);
  await forgetFormer(directory);
  const later = await open();
  expect(later.created).toEqual([]);
  expect(await meet(later, before)).toEqual({ client: false, server: false });
  expect(await meet(later, after)).toEqual({ client: true, server: true });
});

test('a new authority is found by the hash of its key while the old one is still trusted', async () => {
  await open();
  await turn('authority');
  const { serving, authority } = await open();
  const listener = createServer({ cert: serving.certificate, key: serving.key }, (socket) => socket.end());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const ca = await pinnedAuthority(`https://127.0.0.1:${port}`, authorityHash(authority), AbortSignal.timeout(5_000));
  const options = { host: '127.0.0.1', port, ca, allowPartialTrustChain: true };
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const made = connect(options, () => resolve(made)).on('error', reject);
  });
  expect(socket.authorized).toBe(true);
  socket.destroy();
  listener.close();
});

test('a rotation that was interrupted between its writes leaves the old authority in use', async () => {
  const before = await open();
  const certificate = await readFile(join(directory, 'ca.crt'), 'utf8');
  await turn('authority');
  await writeFile(join(directory, 'ca.crt'), certificate);
  const after = await open();
  expect(after.authority).toBe(before.authority);
  expect(after.created).toEqual([]);
  expect(await meet(after, before)).toEqual({ client: true, server: true });
  await turn('authority');
  expect(await meet(await open(), before)).toEqual({ client: true, server: true });
});

test('a directory without an authority says so', async () => {
  await expect(turn('authority')).rejects.toThrow(AssemblyError);
});

test('a running process renews before each expiry', async () => {
  const clock = new ControlledClock();
  const pki = await open(clock);
  const applied: Pki[] = [];
  const renewal = keepRenewed({
    pki,
    open: () => open(clock),
    apply: async (next) => void applied.push(next),
    clock,
    log: silent,
  });
  await clock.advance(300 * DAY);
  expect(applied).toEqual([]);
  await clock.advance(10 * DAY);
  await renewal.check();
  expect(applied.map(({ created }) => [...created].sort())).toEqual([
    ['admin certificate', 'front-proxy certificate', 'serving certificate'],
  ]);
  expect(Date.parse(new X509Certificate(applied[0]!.serving.certificate).validTo)).toBeGreaterThan(
    clock.now() + 360 * DAY,
  );
  await clock.advance(320 * DAY);
  await renewal.check();
  expect(applied).toHaveLength(2);
  await renewal.stop();
  expect(clock.waiting).toBe(0);
});

test('a failed renewal is retried', async () => {
  const clock = new ControlledClock();
  const pki = await open(clock);
  let tries = 0;
  const renewal = keepRenewed({
    pki,
    open: async () => {
      tries++;
      throw new Error('the disk is full');
    },
    apply: async () => {},
    clock,
    log: silent,
  });
  await renewal.check();
  await clock.advance(3_600_000);
  expect(tries).toBe(2);
  await renewal.stop();
});

test('a rotated front-proxy authority signs a new certificate, and the old one is trusted until it is forgotten', async () => {
  const before = await open();
  await turn('front-proxy');
  const after = await open();
  expect(after.created).toEqual(['front-proxy certificate']);
  expect(after.authority).toBe(before.authority);
  expect(after.frontProxy.authority.endsWith(before.frontProxy.authority)).toBe(true);
  const issuer = new X509Certificate(after.frontProxy.authority);
  expect(new X509Certificate(after.frontProxy.certificate).checkIssued(issuer)).toBe(true);
  expect(new X509Certificate(after.frontProxy.certificate).subject).toBe('CN=front-proxy-client');
  await forgetFormer(directory);
  expect((await open()).frontProxy.authority).not.toContain(before.frontProxy.authority);
});

test('the authority of the cluster has not signed the front-proxy certificate', async () => {
  const { authority, frontProxy } = await open();
  const certificate = new X509Certificate(frontProxy.certificate);
  expect(certificate.verify(new X509Certificate(authority).publicKey)).toBe(false);
  expect(certificate.verify(new X509Certificate(frontProxy.authority).publicKey)).toBe(true);
});
