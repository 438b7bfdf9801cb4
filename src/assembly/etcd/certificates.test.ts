import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { openMemberKeys, readEtcdAuthority, writeEtcdAuthority } from './certificates.ts';
import { memberPaths } from './paths.ts';

const CENTURY_MS = 100 * 365 * 24 * 3_600_000;

let directory: string;
let clock: ControlledClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-etcd-keys-'));
  clock = new ControlledClock(Date.now());
});
afterEach(() => rm(directory, { recursive: true }));

const pathsOf = (server: string) => memberPaths(join(directory, server));
const keysOf = (server: string, host = '127.0.0.1') =>
  openMemberKeys({ paths: pathsOf(server), host, clock, random: systemRandom });
/** A server that joins gets the authority of the others. */
const joined = async (server: string, other: string) => {
  await writeEtcdAuthority(pathsOf(server), await readEtcdAuthority(pathsOf(other)));
  return keysOf(server);
};

it('members trust each other in both directions', async () => {
  const first = await keysOf('first');
  const second = await joined('second', 'first');
  const server = createServer({ ...first, requestCert: true, rejectUnauthorized: true }, (socket) => socket.end('hi'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, ...second });
  expect(String((await once(socket, 'data'))[0])).toBe('hi');
  server.close();
});

it('nothing ends the trust of members that nobody restarts', async () => {
  const { ca, cert } = await keysOf('first');
  for (const pem of [ca, cert]) {
    expect(Date.parse(new X509Certificate(String(pem)).validTo)).toBeGreaterThan(Date.now() + CENTURY_MS);
  }
});

it('a start keeps the keys, and makes new ones for another address or authority', async () => {
  const first = await keysOf('first');
  expect(await keysOf('first')).toEqual(first);
  const moved = await keysOf('first', '127.0.0.2');
  expect(moved.ca).toBe(first.ca);
  expect(new X509Certificate(String(moved.cert)).checkIP('127.0.0.2')).toBe('127.0.0.2');
  await keysOf('other');
  const adopted = await joined('first', 'other');
  expect(adopted.ca).not.toBe(first.ca);
  expect(new X509Certificate(String(adopted.cert)).checkIssued(new X509Certificate(String(adopted.ca)))).toBe(true);
});
