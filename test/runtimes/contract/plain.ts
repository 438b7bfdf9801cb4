/** Contract of a runtime whose pods are plain processes of one user. */
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOST_IMAGE_ID } from '../../../src/kinds/shapes/container/host-image.ts';
import type { prepareProcess } from '../process.ts';
import { PLAIN_SECURITY, World } from '../world.ts';
import { describeStreams } from './streams.ts';

const HOST = { image: 'host', imageId: HOST_IMAGE_ID };

export function describePlain(prepare: () => ReturnType<typeof prepareProcess>): void {
  let under: Awaited<ReturnType<typeof prepareProcess>>;
  let world: World;

  beforeAll(async () => {
    under = await prepare();
    world = new World(under);
    await world.start();
  });
  afterEach(() => world.removeAll());
  afterAll(() => world.stop());

  async function start(script: string, changes: object = {}) {
    const container = await world.create({ ...HOST, command: ['sh', '-c', script], workingDirectory: '/', ...changes });
    await world.runtime.startContainer(container.id);
    return container;
  }

  it('says that pods are not containers', () => {
    expect(world.runtime.limitation).toMatch(/not containers: they are processes of one unprivileged user/);
  });

  it('runs as a user who is not root', async () => {
    const container = await start('id -u; grep CapBnd /proc/self/status');
    const [user, bounding] = (await container.output()).split('\n');
    expect(user).toBe('65534');
    if (process.getuid?.() === 0) expect(bounding).toBe('CapBnd:\t0000000000000000');
  });

  it.each([
    ['that must not get more rights', { noNewPrivileges: true }],
    ['without capabilities', { dropCapabilities: ['ALL'] }],
  ])('runs a program %s so that it cannot get any', async (_, restricted) => {
    const container = await start('grep -E "NoNewPrivs|CapEff" /proc/self/status', {
      security: { ...PLAIN_SECURITY, ...restricted },
    });
    expect((await container.output()).trim().split('\n')).toEqual(['CapEff:\t0000000000000000', 'NoNewPrivs:\t1']);
    const command = ['grep', 'NoNewPrivs', '/proc/self/status'];
    const other = await start('sleep 1000', { security: { ...PLAIN_SECURITY, ...restricted } });
    const { stdout } = await world.runtime.run(other.id, { command, timeoutMs: 10_000, maxBytes: 1_000 });
    expect(stdout.toString()).toBe('NoNewPrivs:\t1\n');
  });

  it('runs the image of the node as a user who is not root', async () => {
    expect(await world.runtime.images.find('host')).toMatchObject({ user: 65_534 });
  });

  it('runs a program with its variables and directory, and keeps its log and exit code', async () => {
    const env = [{ name: 'OWN', value: 'a b\n"c"' }];
    const container = await start('echo "$OWN|$PWD|$0"; echo err >&2; exit 3', { env, workingDirectory: '/usr' });
    expect(await container.ended()).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect((await container.log()).toSorted()).toEqual(['stderr F err', 'stdout F "c"|/usr|sh', 'stdout F a b']);
  });

  it('stops it with a signal, and kills it with its children', async () => {
    const polite = await start('trap "exit 7" TERM; echo up; while :; do sleep 0.05; done');
    await expect.poll(() => polite.log()).toContain('stdout F up');
    await world.runtime.stopContainer(polite.id, 30);
    expect(await polite.status()).toMatchObject({ exitCode: 7 });
    const stubborn = await start('trap "" TERM; sleep 987 & echo $!; wait; while :; do sleep 0.05; done');
    await expect.poll(() => stubborn.log()).not.toEqual([]);
    const child = Number((await stubborn.log())[0]!.split(' ')[2]);
    await world.runtime.stopContainer(stubborn.id, 0);
    expect(await stubborn.status()).toMatchObject({ exitCode: 137 });
    const isRunning = async () =>
      /^State:\s+[^ZX]/m.test(await readFile(`/proc/${child}/status`, 'utf8').catch(() => ''));
    await expect.poll(isRunning).toBe(false);
  });

  it('runs further commands with their streams', async () => {
    const { id } = await start('sleep 1000');
    const request = { command: ['sh', '-c', 'cat; echo err >&2; exit 5'], stdin: true, stdout: true, stderr: true };
    const streams = await world.runtime.exec(id, { ...request, tty: false });
    streams.stdin?.end('hello');
    expect(await Promise.all([text(streams.stdout!), text(streams.stderr!)])).toEqual(['hello', 'err\n']);
    expect(await streams.exit).toEqual({ exitCode: 5 });
  });

  it('runs further commands on a terminal of the size that is asked for', async () => {
    const { id } = await start('sleep 1000');
    const script = 'read -r line; echo "got $line and $1"; stty size; exit 4';
    const command = ['sh', '-c', script, 'sh', `it's "$HOME"; \`x\``];
    const size = { columns: 101, rows: 33 };
    const streams = await world.runtime.exec(id, {
      command,
      stdin: true,
      stdout: true,
      stderr: false,
      tty: true,
      size,
    });
    const output = text(streams.stdout!);
    streams.stdin!.write('typed\n');
    expect(await streams.exit).toEqual({ exitCode: 4 });
    expect(await output).toMatch(/got typed and it's "\$HOME"; `x`\r\n33 101\r\n/);
  });

  it('gives a program no variables but its own', async () => {
    const container = await start('', { command: ['env'], env: [{ name: 'A-b.c', value: 'x' }] });
    const names = (await container.output())
      .split('\n')
      .map((line) => line.split('=')[0])
      .toSorted();
    expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name!))).toEqual([
      'A-b.c',
      'HOME',
      'HOSTNAME',
      'PATH',
    ]);
  });

  it('attaches to its input', async () => {
    const container = await start('cat; echo end; exit 8', { stdin: true, stdinOnce: true });
    const attach = { stdin: true, stdout: true, stderr: false, tty: false };
    const streams = await world.runtime.attach(container.id, attach);
    const output = text(streams.stdout!);
    streams.stdin?.end('only ');
    expect(await output).toBe('only end\n');
    expect(await container.ended()).toMatchObject({ exitCode: 8 });
  });

  describe('ends of streams', () => describeStreams({ runtime: () => world.runtime, run: start, lacks: {} }));

  it('says what cannot be run', async () => {
    const container = await world.create({ ...HOST, command: ['no-such-program'], workingDirectory: '/' });
    await expect(world.runtime.startContainer(container.id)).rejects.toMatchObject({ code: 'CannotRun' });
  });

  it('goes on when agent and keeper are killed', async () => {
    // A folder that everybody may write to.
    const go = join(mkdtempSync(join(tmpdir(), 'qd-go-')), '..', `go-${process.pid}`);
    const container = await start('while [ ! -e "$GO" ]; do sleep 0.05; done; echo end; exit 6', {
      env: [{ name: 'GO', value: go }],
    });
    await world.reopen(async () => {
      process.kill(Number(await readFile(join(under.directory, 'runtime/keeper.pid'), 'utf8')), 'SIGKILL');
    });
    const touch = { command: ['touch', go], timeoutMs: 10_000, maxBytes: 100 };
    await world.runtime.run(container.id, touch);
    expect(await container.ended()).toMatchObject({ exitCode: 6 });
    expect(await container.log()).toEqual(['stdout F end']);
  });
}
