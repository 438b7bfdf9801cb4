/** Tests the runtime over CRI, on a separate containerd. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bridgeOf } from '../../src/node/containerd/network/cni.ts';
import { openContainerd } from '../../src/node/containerd/open.ts';
import type { ContainerdOptions } from '../../src/node/containerd/options.ts';
import { killLostContainerds } from '../../src/node/containerd/own/lost.ts';
import { endWithoutDirectory } from '../../src/node/containerd/own/stop.ts';
import { PAUSE_IMAGE } from '../../src/node/images/pause/pause-image.ts';
import type { Runtime } from '../../src/node/runtime/runtime.ts';
import { freePort } from '../support/free-port.ts';
import { describeRuntime } from './contract.ts';
import { prepareContainerd, whyNoContainerd } from './own-containerd.ts';
import { TestRegistry } from './registry.ts';
import { World, writeImage } from './world.ts';

const missing = whyNoContainerd();
if (missing) console.warn(`the tests of containerd are skipped: ${missing}`);

describe.skipIf(missing)('on a real containerd', () => {
  const isSystemd = existsSync('/run/systemd/system') && existsSync('/sys/fs/cgroup/cgroup.controllers');
  const lacks = {
    ...(isSystemd ? { 'pod cgroups': 'systemd manages the cgroups' } : {}),
    'half-closed ports':
      'containerd ends a connection a second after either end was closed, and the pod sees no end before',
    'closed streams': 'containerd waits for the input of a command that has closed it',
  };
  describeRuntime('containerd', () => prepareContainerd(), lacks);

  describe('an own containerd', () => {
    async function inWorld(test: (world: World, options: ContainerdOptions) => Promise<void>): Promise<void> {
      const under = await prepareContainerd();
      const world = new World(under);
      try {
        await world.start();
        await test(world, under.options);
      } finally {
        await world.stop();
      }
    }

    const pidOf = async ({ directory }: ContainerdOptions) =>
      (JSON.parse(await readFile(join(directory, 'containerd.json'), 'utf8')) as { pid: number }).pid;

    it('outlives the agent, and is found again', () =>
      inWorld(async (world, options) => {
        const before = await pidOf(options);
        await world.reopen();
        expect(await pidOf(options)).toBe(before);
      }));

    it('is started again after it was killed, and has its containers', () =>
      inWorld(async (world, options) => {
        const container = await world.run('sleep 1000');
        const before = await pidOf(options);
        process.kill(before, 'SIGKILL');
        await world
          .until(async () => ((await pidOf(options)) === before ? world.runtime.health() : true))
          .catch(() => {});
        expect(await container.status()).toMatchObject({ state: 'running' });
        expect(await pidOf(options)).not.toBe(before);
        const run = { command: ['/bin/echo', 'still here'], timeoutMs: 10_000, maxBytes: 100 };
        expect(String((await world.runtime.run(container.id, run)).stdout)).toBe('still here\n');
      }));

    it('gets the image of its sandboxes from two programs that open it at the same time', () =>
      inWorld(async (world, options) => {
        await world.runtime.images.remove(PAUSE_IMAGE);
        const opened = await Promise.all([openContainerd(options), openContainerd(options)]);
        for (const runtime of opened) await runtime.close();
        expect(await (await world.run('sleep 1000')).status()).toMatchObject({ state: 'running' });
      }));

    it('unpacks what is loaded, so that the first container does not wait for it', () =>
      inWorld(async (world, options) => {
        const archive = join(options.directory, 'note.tar');
        await writeImage(archive, { name: 'docker.io/library/note:1', note: 'another layer' });
        const address = join(options.directory, 'containerd.sock');
        const ctr = (...args: string[]) =>
          execFileSync('ctr', ['--address', address, '--namespace', 'k8s.io', ...args], { encoding: 'utf8' });
        for (const _ of ['first', 'second']) {
          await world.runtime.images.load(archive);
          expect(ctr('images', 'check', 'name==docker.io/library/note:1')).toMatch(/ true\s*$/);
        }
        const layers = () => ctr('snapshots', 'list').split('Committed').length - 1;
        const before = layers();
        const { id: imageId = '' } = (await world.runtime.images.find('note:1')) ?? {};
        const container = await world.run('cat /note', { image: 'note:1', imageId });
        expect(await container.output()).toBe('another layer');
        // The image of the sandbox is unpacked when it is used.
        expect(layers()).toBe(before + 1);
        await world.removeAll();
        await world.runtime.images.remove(imageId);
        await expect.poll(layers).toBe(before);
      }));

    it('is left as it is by a program beside the agent', () =>
      inWorld(async (world, options) => {
        const before = await pidOf(options);
        const file = join(options.directory, 'config.toml');
        const configuration = await readFile(file, 'utf8');
        const other = await openContainerd({ ...options, endpoint: 'existing', streamAddress: '127.0.0.2' });
        const ids = async ({ images }: Runtime) => (await images.list()).map(({ id }) => id).sort();
        expect(await ids(other)).toEqual(await ids(world.runtime));
        await other.close();
        expect(await pidOf(options)).toBe(before);
        expect(await readFile(file, 'utf8')).toBe(configuration);
      }));

    it('pulls through mirrors, in their order, also those of an insecure registry', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'qd-registry-'));
      const registry = await TestRegistry.start(directory);
      const urls = [`http://127.0.0.1:${await freePort()}`, `http://${registry.name}`];
      const mirrors = { 'safe.invalid': urls, 'unsafe.invalid': urls };
      const world = new World(await prepareContainerd({ registries: { mirrors, insecure: ['unsafe.invalid'] } }));
      try {
        await world.start();
        const archive = join(directory, 'pulled.tar');
        await writeImage(archive, { name: 'pulled:1', note: 'through a mirror' });
        await registry.push(archive, 'team/pulled');
        const { images } = world.runtime;
        for (const name of ['safe.invalid/team/pulled:1', 'unsafe.invalid/team/pulled:1']) {
          await images.pull(name, undefined);
          expect((await images.find(name))?.tags).toContain(name);
        }
      } finally {
        await world.stop();
        await registry.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });

    it('does not show what belongs to another node', () =>
      inWorld(async (world, options) => {
        await world.run('sleep 1000');
        const { socket } = world.runtime as Awaited<ReturnType<typeof openContainerd>>;
        const other = await openContainerd({ ...options, endpoint: { socket }, name: 'other' });
        expect(await other.sandboxes()).toEqual([]);
        expect(await other.containers()).toEqual([]);
        expect(await other.usage()).toEqual([]);
        expect(other.isOwn).toBe(false);
        await other.close();
      }));

    it('has its pods in another network namespace, if it is told to', async () => {
      const namespace = `qd-test-${process.pid}`;
      execFileSync('ip', ['netns', 'add', namespace]);
      const under = await prepareContainerd({ networkNamespace: `/run/netns/${namespace}` });
      const world = new World(under);
      try {
        await world.start();
        const container = await world.run('sleep 1000');
        const bridge = bridgeOf(under.options.name);
        expect(execFileSync('ip', ['-n', namespace, '-o', 'link']).toString()).toContain(bridge);
        expect(execFileSync('ip', ['-o', 'link']).toString()).not.toContain(bridge);
        const run = { command: ['/bin/echo', 'there'], timeoutMs: 10_000, maxBytes: 100 };
        expect(String((await world.runtime.run(container.id, run)).stdout)).toBe('there\n');
      } finally {
        await world.stop();
        execFileSync('ip', ['netns', 'delete', namespace]);
      }
    });

    it('is ended with its pods when its directory was removed', async () => {
      const under = await prepareContainerd();
      const world = new World(under);
      await world.start();
      await world.run('sleep 1000');
      await world.runtime.close();
      // Roots of containers are mounted there.
      spawnSync('rm', ['-rf', '--one-file-system', under.directory]);
      expect(await killLostContainerds()).toContain(under.options.directory);
      await endWithoutDirectory({ ...under.options, removesPods: true });
      expect(execFileSync('ip', ['-o', 'link']).toString()).not.toContain(bridgeOf(under.options.name));
      expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(under.directory);
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(under.directory);
      await rm(under.directory, { recursive: true, force: true });
    });

    it('leaves nothing behind when it is stopped', async () => {
      const under = await prepareContainerd();
      const world = new World(under);
      await world.start();
      await world.run('sleep 1000');
      expect(execFileSync('ip', ['-o', 'link']).toString()).toContain(bridgeOf(under.options.name));
      await world.stop();
      expect(execFileSync('ip', ['-o', 'link']).toString()).not.toContain(bridgeOf(under.options.name));
      expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(under.directory);
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(under.directory);
      expect(existsSync(under.directory)).toBe(false);
    });
  });
});
