/** The clusters of a machine: in the background, listed, stopped and removed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { processIdentity } from '../../src/base/programs/process-identity.ts';
import { findClusters } from '../../src/cli/clusters/find.ts';
import { newDirectory, runQd, spawnProgram } from './program.ts';

const root = join(import.meta.dirname, '..', '..');

let home: string;
let kubeconfig: string;

async function makeHome(): Promise<void> {
  home = await newDirectory();
  kubeconfig = join(home, '.kube', 'config');
}

async function removeHome(): Promise<void> {
  await killAll();
  await rm(home, { recursive: true, force: true });
}

/** A home for the whole suite, with the clusters that it starts. */
function oneHome(start: () => Promise<unknown>): void {
  beforeAll(async () => {
    await makeHome();
    await start();
  });
  afterAll(removeHome);
}

function homeForEach(): void {
  beforeEach(makeHome);
  afterEach(removeHome);
}

const env = () => ({ HOME: home, KUBECONFIG: '' });
const qd = (...args: string[]) => runQd(args, { env: env() });
const dataOf = (name: string) => join(home, '.quarterdeck', name);
const clusters = () => findClusters(join(home, '.quarterdeck'));
const listed = async (): Promise<any[]> => JSON.parse((await qd('list', '--json')).stdout);
const pidOf = async (name: string) => (await clusters()).find((each) => each.name === name)!.pid!;
const upDetached = (name: string, ...flags: string[]) => qd('up', '--detach', '--name', name, '--port', '0', ...flags);
/** A process whose parent has not asked for its exit code has ended, too. */
const isRunning = async (pid: number) => (await processIdentity(pid)).started !== '';

describe('a cluster in the background', () => {
  let started: Awaited<ReturnType<typeof qd>>;
  oneHome(async () => {
    await upDetached('other');
    started = await upDetached('dev');
  });

  test('is ready when the command returns, which says where its log is', async () => {
    const { code, stdout, stderr } = started;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const log = join(dataOf('dev'), 'qd.log');
    expect(stdout).toMatch(/^Ready in .*: https:\/\/127\.0\.0\.1:\d+$/m);
    expect(stdout).toContain(log);
    expect(stdout).toContain('qd down --name dev');
    expect(stdout).not.toContain('Ctrl-C');
    expect(stdout).not.toContain('{"level"');
    expect(await readFile(log, 'utf8')).toMatch(/^\{"level":"info".*"message":"ready"\}$/m);
    expect(stdout).toContain(String(await pidOf('dev')));
    expect((await qd('certs', 'show', '--name', 'dev')).code).toBe(0);
  });

  test('goes on after a second start, which is rejected', async () => {
    const before = await clusters();
    const again = await upDetached('dev');
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`in use by process ${await pidOf('dev')}`),
    });
    expect(before).toMatchObject([{ state: 'running' }, { state: 'running' }]);
    expect(await clusters()).toEqual(before);
  });

  test('is not removed without --yes where qd reset cannot ask', async () => {
    const before = await clusters();
    const { code, stderr } = await qd('reset', '--name', 'dev');
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/^qd: reset .*--yes\n$/) });
    expect(await clusters()).toEqual(before);
  });

  test('is left alone by qd reset of a copy that was never started', async () => {
    const before = await readFile(kubeconfig, 'utf8');
    await cp(dataOf('dev'), join(home, 'copy'), { recursive: true });
    // The copy still has the address of the original.
    const undo = await qd('undo', 'configmap', 'kube-root-ca.crt', '--data-dir', join(home, 'copy'), '--yes');
    expect(undo).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`is a copy of ${dataOf('dev')} that has not`),
    });
    expect((await qd('reset', '--data-dir', join(home, 'copy'), '--yes')).code).toBe(0);
    expect(await readFile(kubeconfig, 'utf8')).toBe(before);
  });

  test.skipIf(process.getuid?.() !== 0)('is not stopped when another user wrote its lock', async () => {
    const pid = await pidOf('dev');
    const file = join(dataOf('dev'), 'lock');
    await chown(file, 65_534, 65_534);
    try {
      const { code, stderr } = await qd('down', '--name', 'dev');
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was stopped') });
      expect(await isRunning(pid)).toBe(true);
    } finally {
      await chown(file, 0, 0);
    }
  });

  describe('after qd down', () => {
    let pid: number;
    let stopped: Awaited<ReturnType<typeof qd>>;
    beforeAll(async () => {
      pid = await pidOf('dev');
      stopped = await qd('down', '--name', 'dev');
    });

    test('has stopped gracefully, and the other one goes on', async () => {
      const { code, stdout } = stopped;
      expect({ code, stdout }).toEqual({ code: 0, stdout: `Stopped cluster "dev" (process ${pid}).\n` });
      expect(await isRunning(pid)).toBe(false);
      expect(existsSync(join(dataOf('dev'), 'lock'))).toBe(false);
      expect(await readFile(join(dataOf('dev'), 'qd.log'), 'utf8')).toContain('Stopped.');
      expect(await isRunning(await pidOf('other'))).toBe(true);
    });

    test('is named as one that is not running, or as one that there is', async () => {
      const again = await qd('down', '--name', 'dev');
      expect(again).toMatchObject({ code: 0, stdout: 'Cluster "dev" is not running.\n' });
      const { code, stderr } = await qd('down');
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^qd: .*\.quarterdeck\/quarterdeck is not the data directory of a cluster; .*: dev, other \(running\)\n$/,
      );
    });

    test.skipIf(process.getuid?.() !== 0)('is not removed when another user owns it, by root either', async () => {
      await chown(dataOf('dev'), 65_534, 65_534);
      try {
        const { code, stderr } = await qd('reset', '--name', 'dev', '--yes');
        expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to user 65534') });
        expect(existsSync(join(dataOf('dev'), 'pki', 'ca.key'))).toBe(true);
      } finally {
        await chown(dataOf('dev'), 0, 0);
      }
    });

    test('leaves its context to a new one of its name', async () => {
      const mine = await readFile(kubeconfig, 'utf8');
      await cp(dataOf('dev'), join(home, 'older'), { recursive: true });
      await qd('reset', '--name', 'dev', '--yes');
      await upDetached('dev');
      const others = await readFile(kubeconfig, 'utf8');
      expect(others).not.toBe(mine);
      // The directory that was copied has the name and no longer the authority.
      expect((await qd('reset', '--data-dir', join(home, 'older'), '--yes')).code).toBe(0);
      expect(await readFile(kubeconfig, 'utf8')).toBe(others);
    });
  });
});

describe('qd up --detach', () => {
  homeForEach();

  test('a start that fails shows the error and its exit code, as in the foreground', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, stderr } = await qd('up', '--detach', '--name', 'dev', '--port', String(port));
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^qd: port ${port} on 127.0.0.1 is used by another program[^\\n]*\\n$`));
    expect(await clusters()).toEqual([]);
    other.close();
  });

  test('a start with wrong flags, or in a directory of something else, creates nothing', async () => {
    expect((await qd('up', '--detach', '--name', 'dev', '--port', '99999')).code).toBe(1);
    const wrong = await qd('up', '--detach', '--name', 'dev', '--port', '0', '--store', 'etcd');
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('--store etcd needs --etcd-servers') });
    expect(existsSync(join(home, '.quarterdeck'))).toBe(false);
    const foreign = join(home, 'documents');
    await mkdir(foreign);
    await writeFile(join(foreign, 'letter.txt'), 'Dear');
    expect((await qd('up', '--detach', '--data-dir', foreign, '--port', '0')).code).toBe(1);
    expect(await readdir(foreign)).toEqual(['letter.txt']);
  });

  test('two first starts at once choose different ports and ranges', async () => {
    const names = ['one', 'two', 'three'];
    const started = await Promise.all(
      names.map((name) => qd('up', '--detach', '--name', name, '--runtime', 'process', '--nodes', '0')),
    );
    expect(started.map(({ code, stderr }) => ({ code, stderr }))).toEqual(names.map(() => ({ code: 0, stderr: '' })));
    const chosen = await Promise.all(
      names.map(async (name) => JSON.parse(await readFile(join(dataOf(name), 'cluster.json'), 'utf8'))),
    );
    for (const setting of ['port', 'serviceClusterIpRange', 'clusterCidr']) {
      expect(new Set(chosen.map((settings) => settings[setting])).size, setting).toBe(names.length);
    }
  });

  test('of two starts at once, one succeeds; several stops at once all do, and the stop stays graceful', async () => {
    const both = await Promise.all([upDetached('dev'), upDetached('dev')]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(await clusters()).toMatchObject([{ name: 'dev', state: 'running' }]);
    const stopped = await Promise.all([1, 2, 3].map(() => qd('down', '--name', 'dev')));
    expect(stopped.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await readFile(join(dataOf('dev'), 'qd.log'), 'utf8')).toContain('Stopped.');
    expect(existsSync(join(dataOf('dev'), 'lock'))).toBe(false);
  });

  test('the cluster comes up although the command was killed while it waited', async () => {
    const parent = spawnProgram('qd', ['up', '--detach', '--name', 'dev', '--port', '0'], { env: env() });
    const log = join(dataOf('dev'), 'qd.log');
    const said = () => readFile(log, 'utf8').catch(() => '');
    await expect.poll(said, { interval: 5 }).toContain('cluster "dev"');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await expect.poll(said).toContain('Ready in');
    const pid = await pidOf('dev');
    expect((await qd('down', '--name', 'dev')).stdout).toBe(`Stopped cluster "dev" (process ${pid}).\n`);
    expect(await said()).toContain('Stopped.');
  });

  test('Ctrl-C stops npm start gracefully: the key press reaches the program from the terminal and from npm', async () => {
    const child = spawn('npm', ['start', '-s', '--', '--runtime', 'simulated', '--name', 'dev', '--port', '0'], {
      cwd: root,
      env: { ...process.env, ...env() },
      stdio: ['ignore', 'pipe', 2],
      detached: true,
    });
    let said = '';
    child.stdout!.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said).toContain('Ready in');
    // A terminal sends the signal to the whole process group.
    process.kill(-child.pid!, 'SIGINT');
    await once(child, 'close');
    expect(said).toContain('Stopped.');
    expect(existsSync(join(dataOf('dev'), 'lock'))).toBe(false);
  });

  test('npm start passes it on', async () => {
    const flags = ['--runtime', 'simulated', '--detach', '--name', 'dev', '--port', '0'];
    const child = spawn('npm', ['start', '-s', '--', ...flags], {
      cwd: root,
      env: { ...process.env, ...env() },
      stdio: ['ignore', 'pipe', 2],
    });
    let said = '';
    child.stdout!.on('data', (chunk) => {
      said += chunk;
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(said).toContain(join(dataOf('dev'), 'qd.log'));
    expect(await clusters()).toMatchObject([{ name: 'dev', state: 'running' }]);
  });
});

describe('qd up --detach with real pods', () => {
  homeForEach();
  afterEach(() => qd('down', '--name', 'dev'));

  test('returns when nodes with real pods are ready, for clients as well', async () => {
    expect(await upDetached('dev', '--runtime', 'process')).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await qd('get', 'nodes', '-o', 'json');
    const [{ status }] = JSON.parse(stdout).items;
    expect(status.conditions.find(({ type }: { type: string }) => type === 'Ready')).toMatchObject({ status: 'True' });
    expect(status.nodeInfo.containerRuntimeVersion).not.toContain('unknown');
    expect(await readFile(join(dataOf('dev'), 'qd.log'), 'utf8')).toMatch(/^waiting .*; dev-node-1 ready /m);
  });

  test('with --wait=false, returns when the API is ready', async () => {
    expect(await upDetached('dev', '--runtime', 'process', '--wait=false')).toMatchObject({ code: 0, stderr: '' });
    const log = await readFile(join(dataOf('dev'), 'qd.log'), 'utf8');
    expect(log).toMatch(/^Ready in /m);
    expect(log).not.toMatch(/^waiting /m);
  });
});

describe('a copy of a data directory', () => {
  homeForEach();

  test('has a kubeconfig of its own, with and without --kubeconfig', async () => {
    await upDetached('original');
    const urls = new Set((await clusters()).map(({ url }) => url));
    for (const [name, flags] of [
      ['copy', []],
      ['other', ['--kubeconfig', join(home, 'other.kubeconfig')]],
    ] as const) {
      const copy = join(home, name);
      await cp(dataOf('original'), copy, { recursive: true });
      expect(await upDetached(name, '--data-dir', copy, ...flags)).toMatchObject({ code: 0, stderr: '' });
      const text = await readFile(join(copy, 'admin.kubeconfig'), 'utf8');
      expect(text.match(/server: .*/g)).toHaveLength(1);
      expect(text).toMatch(new RegExp(`^current-context: ${name}$`, 'm'));
      const [, server] = /server: (\S+)/.exec(text) ?? [];
      expect((await clusters()).find((each) => each.name === name)).toMatchObject({ url: server });
      expect(urls).not.toContain(server);
    }
    expect((await qd('reset', '--data-dir', join(home, 'copy'), '--yes')).code).toBe(0);
    expect((await listed()).map(({ name }) => name)).toEqual(['original', 'other']);
  });
});

describe('clusters of several names', () => {
  const elsewhere = () => join(home, 'work', 'three');
  const inTwo = (...args: string[]) => runQd(args, { env: { ...env(), QD_CLUSTER: 'two' } });
  oneHome(async () => {
    const isStarted = { code: 0, stderr: '' };
    expect(await upDetached('one', '--nodes', '1')).toMatchObject(isStarted);
    expect(await upDetached('two', '--nodes', '2')).toMatchObject(isStarted);
    expect(await upDetached('three', '--nodes', '3', '--data-dir', elsewhere())).toMatchObject(isStarted);
  });

  test('are found by their name, directory, context, or the environment', async () => {
    // Every start has made its cluster the current one.
    const nodes = async (run = qd, ...flags: string[]) =>
      JSON.parse((await run('get', 'nodes', '-o', 'json', ...flags)).stdout).items.length;
    expect(await nodes()).toBe(3);
    expect(await nodes(qd, '--name', 'one')).toBe(1);
    expect(await nodes(qd, '--data-dir', elsewhere())).toBe(3);
    expect(await nodes(qd, '--context', 'two')).toBe(2);
    expect(await nodes(inTwo)).toBe(2);
    expect(await nodes(inTwo, '--name', 'one')).toBe(1);
    expect(await nodes(inTwo, '--context', 'one')).toBe(1);
    const none = await qd('get', 'nodes', '--name', 'four');
    expect(none).toMatchObject({ code: 1, stderr: expect.stringMatching(/four is not the data directory .* one \(/) });
    await writeFile(
      join(home, 'remote'),
      (await readFile(kubeconfig, 'utf8')).replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, 'https://remote.example:1'),
    );
    const remote = await qd('reset', '--yes', '--kubeconfig', join(home, 'remote'));
    expect(remote).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('which is not a cluster of this machine'),
    });
  });

  test('are listed while they run and when they are stopped, those of other directories included', async () => {
    expect(await inTwo('down')).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"two"') });
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const url = expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/);
    const running = { state: 'running', pid: expect.any(Number), url, version };
    expect(await listed()).toMatchObject([
      { ...running, name: 'one', directory: dataOf('one'), nodes: 1 },
      { ...running, name: 'three', directory: elsewhere(), nodes: 3 },
      { name: 'two', state: 'stopped', url, version, directory: dataOf('two') },
    ]);
    const [header, one, three, two] = (await qd('list')).stdout.split('\n');
    expect(header).toMatch(/^NAME +STATUS +URL +NODES +VERSION +DIRECTORY$/);
    expect(one).toMatch(/^one +running \(process \d+\) +https:\S+ +1 +\S+ +\S+\/\.quarterdeck\/one$/);
    expect(three).toMatch(/^three +running \(process \d+\) +https:\S+ +3 +\S+ +\S+\/work\/three$/);
    expect(two).toMatch(/^two +stopped +https:/);
  });

  test('are stopped and removed by their context', async () => {
    expect((await qd('down', '--context', 'three')).stdout).toContain('Stopped cluster "three"');
    expect((await qd('reset', '--yes', '--context', 'one')).stdout).toContain(
      `Removed cluster "one" from ${dataOf('one')}`,
    );
    expect((await listed()).map(({ name, state }) => [name, state])).toEqual([
      ['three', 'stopped'],
      ['two', 'stopped'],
    ]);
  });
});

describe('a cluster that was killed', () => {
  let pid: number;
  oneHome(async () => {
    await upDetached('dev');
    pid = await pidOf('dev');
    process.kill(pid, 'SIGKILL');
    const isStopped = async () => expect(await clusters()).toMatchObject([{ name: 'dev', state: 'stopped' }]);
    await vi.waitFor(isStopped, 15_000);
  });

  test('is listed as stopped, and named when its files are damaged', async () => {
    expect(await listed()).toMatchObject([{ name: 'dev', state: 'stopped' }]);
    const file = join(dataOf('dev'), 'cluster.json');
    const settings = await readFile(file);
    await writeFile(file, '{');
    try {
      expect(await listed()).toMatchObject([
        { state: 'unreadable', problem: expect.stringContaining('not valid JSON') },
      ]);
      expect((await qd('list')).stdout).toContain('not valid JSON');
    } finally {
      await writeFile(file, settings);
    }
  });

  test('is removed without touching a process that has its id', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    const lock = JSON.parse(await readFile(join(dataOf('dev'), 'lock'), 'utf8'));
    expect(lock.pid).toBe(pid);
    await writeFile(join(dataOf('dev'), 'lock'), JSON.stringify({ ...lock, pid: stranger.pid }));
    expect((await qd('down', '--name', 'dev')).stdout).toContain('not running');
    expect((await qd('reset', '--name', 'dev', '--yes')).code).toBe(0);
    expect(stranger.exitCode === null && stranger.signalCode === null).toBe(true);
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
    expect(stranger.signalCode).toBe('SIGKILL');
  });
});

describe('qd list', () => {
  homeForEach();

  test('says when there is none', async () => {
    expect(await qd('list')).toMatchObject({ code: 0, stdout: expect.stringContaining('no clusters') });
    expect(await listed()).toEqual([]);
  });
});

describe('qd down', () => {
  homeForEach();

  test('a cluster in the foreground ends with code 0', async () => {
    const child = spawnProgram('qd', ['up', '--name', 'dev', '--port', '0'], { env: env() });
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said).toContain('Ready in');
    const exit = once(child, 'exit');
    expect((await qd('down', '--name', 'dev')).code).toBe(0);
    expect(await exit).toEqual([0, null]);
  });
});

describe('qd reset', () => {
  homeForEach();

  test('stops and removes the cluster, its contexts, and nothing else', async () => {
    await mkdir(join(home, '.kube'));
    await writeFile(kubeconfig, '# mine\napiVersion: v1\nkind: Config\ncurrent-context: work\n');
    await upDetached('other');
    await upDetached('dev', '--audit-policy-file', await policy());
    const before = await clusters();
    const { code, stdout, stderr } = await qd('reset', '--name', 'dev', '--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Removed context "dev" from ${kubeconfig}.`);
    expect(stdout).toContain('It was the current one; choose another with kubectl config use-context: other');
    expect(stdout).toContain(`Removed cluster "dev" from ${dataOf('dev')}.`);
    expect(await readdir(join(home, '.quarterdeck'))).toEqual(['other']);
    expect(await clusters()).toEqual(before.filter(({ name }) => name === 'other'));
    const left = await readFile(kubeconfig, 'utf8');
    expect(left).toContain('# mine');
    expect(left).toContain('name: other');
    expect(left).not.toContain('dev');
  });

  test('rejects directories that are not those of a cluster', async () => {
    const documents = join(home, 'documents');
    await mkdir(join(documents, 'pki'), { recursive: true });
    await writeFile(join(documents, 'letter.txt'), 'Dear');
    for (const directory of [documents, home, join(home, 'nowhere'), join(documents, 'letter.txt'), '/']) {
      const { code, stderr } = await qd('reset', '--yes', '--data-dir', directory);
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/^qd: [^\n]+\n$/) });
    }
    await writeFile(join(documents, 'cluster.json'), '{"theirs":true}');
    expect(await qd('reset', '--yes', '--data-dir', documents)).toMatchObject({ code: 1 });
    expect((await readdir(documents)).sort()).toEqual(['cluster.json', 'letter.txt', 'pki']);
  });

  test('leaves files that others put into the directory, and what symbolic links lead to', async () => {
    await upDetached('dev');
    const outside = join(home, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'precious'), 'x');
    await writeFile(join(dataOf('dev'), 'notes.txt'), 'x');
    await symlink(outside, join(dataOf('dev'), 'pki', 'link'));
    const { code, stdout } = await qd('reset', '--name', 'dev', '--yes');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('notes.txt') });
    expect(await readdir(dataOf('dev'))).toEqual(['notes.txt']);
    expect(await readdir(outside)).toEqual(['precious']);
    expect(await clusters()).toEqual([]);
  });

  test('removes what a first start left that failed', async () => {
    const data = join(home, 'data');
    await mkdir(join(data, 'pki'), { recursive: true });
    await writeFile(join(data, 'encryption.key'), '');
    expect(await qd('reset', '--data-dir', data, '--yes')).toMatchObject({ code: 0 });
    expect(existsSync(data)).toBe(false);
  });
});

async function policy(): Promise<string> {
  const file = join(home, 'policy.yaml');
  await writeFile(file, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
  return file;
}

/** Ends the clusters that a test has left running. */
async function killAll(): Promise<void> {
  for (const { pid } of await clusters()) if (pid !== undefined) process.kill(pid, 'SIGKILL');
}
