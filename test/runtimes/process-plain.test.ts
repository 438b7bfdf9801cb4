/** The process runtime on a machine with nothing but Node and a shell: no perl, so no namespaces. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { HOST_IMAGE_ID } from '../../src/kinds/shapes/container/host-image.ts';
import { prepareProcess } from './process.ts';
import { World } from './world.ts';

const HOST = { image: 'host', imageId: HOST_IMAGE_ID };

let under: Awaited<ReturnType<typeof prepareProcess>>;
let world: World;

beforeAll(async () => {
  under = await prepareProcess(['--programs=/nowhere']);
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

it('says what it does not isolate', () => {
  expect((world.runtime as { limitation?: string }).limitation).toMatch(/share files, processes and network/);
});

it('runs a program with its variables and directory, and keeps its log and exit code', async () => {
  const env = [{ name: 'OWN', value: 'a b\n"c"' }];
  const container = await start('echo "$OWN|$PWD|$0"; echo err >&2; exit 3', { env, workingDirectory: '/usr' });
  expect(await container.ended()).toMatchObject({ exitCode: 3, reason: 'Error' });
  expect((await container.log()).toSorted()).toEqual(['stderr F err', 'stdout F "c"|/usr|sh', 'stdout F a b']);
});

it('stops it with a signal, and kills it with its children', async () => {
  const polite = await start('trap "exit 7" TERM; echo up; while :; do sleep 0.05; done');
  await expect.poll(() => polite.log(), { timeout: 10_000 }).toContain('stdout F up');
  await world.runtime.stopContainer(polite.id, 30);
  expect(await polite.status()).toMatchObject({ exitCode: 7 });
  const stubborn = await start('trap "" TERM; sleep 987 & echo $!; wait; while :; do sleep 0.05; done');
  await expect.poll(() => stubborn.log(), { timeout: 10_000 }).not.toEqual([]);
  const child = Number((await stubborn.log())[0]!.split(' ')[2]);
  await world.runtime.stopContainer(stubborn.id, 0);
  expect(await stubborn.status()).toMatchObject({ exitCode: 137 });
  const isRunning = async () =>
    /^State:\s+[^ZX]/m.test(await readFile(`/proc/${child}/status`, 'utf8').catch(() => ''));
  await expect.poll(isRunning, { timeout: 10_000 }).toBe(false);
});

it('runs further commands with their streams, and no terminals', async () => {
  const { id } = await start('sleep 1000');
  const request = { command: ['sh', '-c', 'cat; echo err >&2; exit 5'], stdin: true, stdout: true, stderr: true };
  const streams = await world.runtime.exec(id, { ...request, tty: false });
  streams.stdin?.end('hello');
  expect(await Promise.all([text(streams.stdout!), text(streams.stderr!)])).toEqual(['hello', 'err\n']);
  expect(await streams.exit).toEqual({ exitCode: 5 });
  await expect(world.runtime.exec(id, { ...request, tty: true })).rejects.toMatchObject({ code: 'Unsupported' });
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

it('says what cannot be run', async () => {
  const container = await world.create({ ...HOST, command: ['no-such-program'], workingDirectory: '/' });
  await expect(world.runtime.startContainer(container.id)).rejects.toMatchObject({ code: 'CannotRun' });
});

it('goes on when agent and keeper are killed', async () => {
  const container = await start('while [ ! -e "$GO" ]; do sleep 0.05; done; echo end; exit 6', {
    env: [{ name: 'GO', value: join(under.directory, 'go') }],
  });
  await world.reopen(async () => {
    process.kill(Number(await readFile(join(under.directory, 'runtime/keeper.pid'), 'utf8')), 'SIGKILL');
  });
  const touch = { command: ['touch', join(under.directory, 'go')], timeoutMs: 10_000, maxBytes: 100 };
  await world.runtime.run(container.id, touch);
  expect(await container.ended()).toMatchObject({ exitCode: 6 });
  expect(await container.log()).toEqual(['stdout F end']);
});
