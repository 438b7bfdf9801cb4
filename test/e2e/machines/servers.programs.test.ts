/** Tests how servers with an etcd of their own join and leave. */

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing } from '../../support/etcd.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';
import { type Landscape, linksAt, type MachineName, openLandscape } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const skip = etcdMissing() ?? (isInstalled ? undefined : 'nft is not installed, or this is not root');
if (skip) console.log(`skipped: ${skip}`);

const LINKS = linksAt(236);
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

  test('two more servers join with one command each, and serve the same objects', { timeout: TIMEOUT_MS }, async () => {
    const flags = await joinFlags();
    expect(flags.filter((flag) => flag.startsWith('--'))).toEqual(['--join', '--token', '--ca-hash']);
    // etcd takes one at a time.
    [second, third] = await Promise.all([startServer('b', flags), startServer('c', flags)]);
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

  const serverList = async () => (await runQd(['server', 'list', '--data-dir', dataOf('a')])).stdout;
  const removeServer = (name: string) => runQd(['server', 'remove', name, '--data-dir', dataOf('a')]);

  test('a server with a new address tells the others', { timeout: TIMEOUT_MS }, async () => {
    expect((await serverList()).match(/leader|follower/g)?.sort()).toEqual(['follower', 'follower', 'leader']);
    await second.stop();
    const moved = LINKS.addresses.b.replace(/\d+$/, '22');
    landscape.run('b', 'ip', 'address', 'delete', `${LINKS.addresses.b}/24`, 'dev', 'eth0');
    landscape.run('b', 'ip', 'address', 'add', `${moved}/24`, 'dev', 'eth0');
    landscape.run('b', 'ip', 'route', 'replace', 'default', 'via', LINKS.router[0]);
    second = await startServer('b', ['--bind-address', moved]);
    expect(await serverList()).toContain(`https://${moved}:2380`);
    expect((await create(second, 'after-the-move')).code).toBe(200);
  });

  test('a name belongs to one server, until that is removed', { timeout: TIMEOUT_MS }, async () => {
    const flags = await joinFlags();
    const data = join(directory, 'namesake');
    const other = ['--server-name', 'server-b', '--etcd-port', '3379', '--etcd-peer-port', '3380', '--port', '7443'];
    const taken = await runQd(['up', '--data-dir', data, ...flags, ...other], {
      enter: landscape.enter('c'),
      timeout: 30_000,
    });
    expect(taken.stderr).toContain('qd server remove server-b');
    const ended = once(second.child, 'exit');
    expect(await removeServer('server-b')).toMatchObject({ code: 0 });
    await ended;
    const again = await runQd(['up', '--data-dir', dataOf('b')], { enter: landscape.enter('b') });
    expect(again.stderr).toContain('was removed from its cluster');
    await runQd(['reset', '--yes', '--data-dir', dataOf('b')], { enter: landscape.enter('b') });
    second = await startServer('b', flags);
    expect((await create(second, 'joined-again')).code).toBe(200);
  });

  test('three servers become one while it serves', { timeout: TIMEOUT_MS }, async () => {
    const reset = await runQd(['reset', '--yes', '--data-dir', dataOf('c')], { enter: landscape.enter('c') });
    expect(reset).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Left the other servers: server-[ab], server-[ab]\.$/m),
    });
    expect(await serverList()).not.toContain('server-c');
    expect(await removeServer('server-b')).toMatchObject({ code: 0 });
    await expect.poll(async () => (await create(first, 'alone')).code).toBe(200);
    expect((await serverList()).match(/server-\w/g)).toEqual(['server-a']);
    expect((await removeServer('server-a')).stderr).toContain('is the only server');
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended.
  }
}
