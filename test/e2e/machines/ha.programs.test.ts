/** Tests servers with an etcd of their own. */
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

describe.skipIf(skip !== undefined)('servers with an etcd of their own', () => {
  let landscape: Landscape;
  let directory: string;
  let first: Qd;
  let second: Qd;
  let third: Qd;

  const dataOf = (machine: MachineName) => join(directory, machine, 'data');
  const startServer = (machine: MachineName, flags: readonly string[]) =>
    startQd({
      directory: join(directory, machine),
      // These machines share their host name.
      flags: ['--port', '6443', '--server-name', `server-${machine}`, ...flags],
      enter: landscape.enter(machine),
    });
  /** The flags of the command that a server prints for further ones. */
  const joinFlags = async (): Promise<string[]> => {
    const { stdout } = await runQd(['token', 'create', '--server', '--kubeconfig', first.kubeconfig]);
    return stdout.slice(stdout.indexOf('qd up')).trim().split(/\s+/).slice(2);
  };
  const serversOf = async (qd: Qd): Promise<string[]> => {
    const { body } = await qd.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    return body.subsets.flatMap(({ addresses }: any) => addresses.map(({ ip }: any) => ip)).sort();
  };
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
    for (const qd of [first, second, third]) await qd?.stop('SIGKILL');
    for (const machine of ['a', 'b', 'c'] as const) {
      await runQd(['reset', '--yes', '--data-dir', dataOf(machine)], { enter: landscape.enter(machine) });
    }
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

  test('qd down ends both, and qd down of a killed server its etcd', async () => {
    await first.stop('SIGKILL');
    expect(etcdOf('a')).toHaveLength(1);
    expect(await runQd(['down', '--data-dir', dataOf('a')])).toMatchObject({ code: 0 });
    expect(etcdOf('a')).toEqual([]);
    first = await startServer('a', []);
    expect(await runQd(['down', '--data-dir', dataOf('a')])).toMatchObject({ code: 0 });
    expect(etcdOf('a')).toEqual([]);
    first = await startServer('a', []);
  });

  test('two more servers join with one command each, and serve the same objects', { timeout: TIMEOUT_MS }, async () => {
    const flags = await joinFlags();
    expect(flags.filter((flag) => flag.startsWith('--'))).toEqual(['--join', '--token', '--ca-hash']);
    second = await startServer('b', flags);
    third = await startServer('c', flags);
    const all = [LINKS.addresses.a, LINKS.addresses.b, LINKS.addresses.c];
    await expect.poll(() => serversOf(first)).toEqual(all);
    expect((await create(third, 'on-the-third')).code).toBe(200);
    for (const qd of [first, second]) expect((await qd.request('GET', `${MAPS}/on-the-third`)).code).toBe(200);
    const key = (machine: MachineName) => readFileSync(join(dataOf(machine), 'encryption.key'), 'utf8');
    expect([key('b'), key('c')]).toEqual([key('a'), key('a')]);
  });

  test('a token that is not for servers gives nothing, nor does a server that is not the one', async () => {
    const flags = await joinFlags();
    const { stdout } = await runQd(['token', 'create', '--quiet', '--kubeconfig', first.kubeconfig]);
    const data = join(directory, 'stranger');
    const join_ = async (changed: Readonly<Record<string, string>>) => {
      const given = flags.map((each, index) => changed[flags[index - 1] ?? ''] ?? each);
      return (await runQd(['up', '--data-dir', data, ...given], { enter: landscape.enter('c') })).stderr;
    };
    expect(await join_({ '--token': stdout.trim() })).toContain('the token is not one for servers');
    expect(await join_({ '--token': 'abcdef.0123456789abcdef' })).toContain('does not know the token');
    expect(await join_({ '--ca-hash': `sha256:${'0'.repeat(64)}` })).toContain('shows no authority with the key');
    const id = flags[flags.indexOf('--token') + 1]!.split('.')[0]!;
    expect(await runQd(['token', 'delete', id, '--kubeconfig', first.kubeconfig])).toMatchObject({ code: 0 });
    expect(await join_({})).toContain('does not know the token');
    expect(existsSync(data)).toBe(false);
  });

  test('the others go on when a machine dies, and it comes back without flags', { timeout: TIMEOUT_MS }, async () => {
    await first.stop('SIGKILL');
    for (const pid of etcdOf('a')) process.kill(pid, 'SIGKILL');
    await expect.poll(async () => (await create(second, 'while-one-is-away')).code).toBe(200);
    first = await startServer('a', []);
    expect((await first.request('GET', `${MAPS}/while-one-is-away`)).code).toBe(200);
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
