/** Tests a server with an etcd of its own. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing } from '../../support/etcd.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';
import { type Landscape, linksAt, type MachineName, openLandscape } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const skip = etcdMissing() ?? (isInstalled ? undefined : 'nft is not installed, or this is not root');
if (skip) console.log(`skipped: ${skip}`);

const LINKS = linksAt(234);
const TIMEOUT_MS = 120_000;
const MAPS = '/api/v1/namespaces/default/configmaps';

describe.skipIf(skip !== undefined)('a server with an etcd of its own', () => {
  let landscape: Landscape;
  let directory: string;
  let first: Qd;

  const dataOf = (machine: MachineName) => join(directory, machine, 'data');
  const startServer = (machine: MachineName, flags: readonly string[]) =>
    startQd({
      directory: join(directory, machine),
      // These machines share their host name.
      flags: ['--port', '6443', '--server-name', `server-${machine}`, ...flags],
      enter: landscape.enter(machine),
    });
  /** The processes of etcd with the data directory of a machine. */
  const etcdOf = (machine: MachineName): number[] => {
    const configuration = join(dataOf(machine), 'etcd', 'etcd.json');
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => commandLine(name).includes(configuration))
      .map(Number);
  };
  const create = (qd: Qd, name: string) => qd.request('POST', MAPS, { body: { metadata: { name } } });

  beforeAll(async () => {
    directory = await newDirectory();
    landscape = openLandscape(LINKS);
    first = await startServer('a', ['--ha', '--bind-address', LINKS.addresses.a]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await first?.stop();
    await runQd(['reset', '--yes', '--data-dir', dataOf('a')], { enter: landscape.enter('a') });
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('an etcd that dies is started again, with what was written', async () => {
    expect(await create(first, 'before')).toMatchObject({ code: 200 });
    const [pid = 0, ...others] = etcdOf('a');
    expect(others).toEqual([]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(async () => (await create(first, 'after')).code).toBe(200);
    expect(etcdOf('a')).not.toContain(pid);
    expect((await first.request('GET', `${MAPS}/before`)).code).toBe(200);
  });

  test('a server that was killed goes on with one etcd, without flags', async () => {
    const [left] = etcdOf('a');
    await first.stop('SIGKILL');
    expect(etcdOf('a')).toEqual([left]);
    first = await startServer('a', []);
    expect(etcdOf('a')).toHaveLength(1);
    expect(etcdOf('a')).not.toContain(left);
    expect((await first.request('GET', `${MAPS}/after`)).code).toBe(200);
  });

  test('its ports are open to nobody without a certificate, and its keys to no other user', async () => {
    const known = ['pki', 'etcd/pki'].map((folder) => readFileSync(join(dataOf('a'), folder, 'ca.crt')));
    const admin = ['crt', 'key'].map((suffix) => readFileSync(join(dataOf('a'), 'pki', `admin.${suffix}`)));
    const [cert, key] = admin;
    for (const port of [2379, 2380]) {
      expect(await tlsProblem({ host: LINKS.addresses.a, port, ca: known })).toMatch(/certificate/);
      // The cluster's own authority opens nothing here.
      expect(await tlsProblem({ host: LINKS.addresses.a, port, ca: known, cert, key })).toMatch(/certificate|unknown/);
    }
    const folder = join(dataOf('a'), 'etcd');
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
    }
  });

  test('qd down of a killed server ends its etcd', async () => {
    await first.stop('SIGKILL');
    expect(etcdOf('a')).toHaveLength(1);
    expect(await runQd(['down', '--data-dir', dataOf('a')])).toMatchObject({ code: 0 });
    expect(etcdOf('a')).toEqual([]);
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}

interface Tls {
  readonly host: string;
  readonly port: number;
  readonly ca: Buffer[];
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

/** Connects, and resolves with the alert of the other side. */
function tlsProblem(options: Tls): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    socket.once('error', ({ message }) => resolve(message));
    // With TLS 1.3, the client is done before the server has seen that there is no certificate.
    socket.once('secureConnect', () => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
    socket.once('data', () => reject(new Error('the connection was accepted')));
  });
}
