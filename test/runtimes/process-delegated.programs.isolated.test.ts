/**
 * Tests the process runtime as a user other than root to whom cgroups were delegated: limits of plain processes are
 * enforced.
 */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOST_IMAGE_ID } from '../../src/kinds/shapes/container/host-image.ts';
import { NO_RESOURCES } from '../../src/node/runtime/container-config.ts';
import { describePlain } from './contract/plain.ts';
import { delegateTo, whyNoDelegation } from './delegated-cgroups.ts';
import { prepareProcess } from './process.ts';
import { World } from './world.ts';

const NOBODY = 65_534;
const MEBIBYTE = 2 ** 20;
const HOST = { image: 'host', imageId: HOST_IMAGE_ID };
const missing = whyNoDelegation();
if (missing) console.warn(`limits of plain processes are not tested: ${missing}`);

// This file has a separate process, which gives up its rights for good.
if (!missing) {
  delegateTo(NOBODY);
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

describe.skipIf(missing)('with delegated cgroups', () => {
  describePlain(() => prepareProcess());

  describe('limits', () => {
    let world: World;
    beforeAll(async () => {
      world = new World(await prepareProcess());
      await world.start();
    });
    afterEach(() => world.removeAll());
    afterAll(() => world.stop());

    async function start(command: readonly string[], resources: object) {
      const all = { ...NO_RESOURCES, ...resources };
      const container = await world.create({ ...HOST, command, workingDirectory: '/', resources: all });
      await world.runtime.startContainer(container.id);
      return container;
    }
    const limitOf = (pid: string | number, controller: string, file: string) => {
      const line = readFileSync(`/proc/${pid}/cgroup`, 'utf8').match(new RegExp(`:${controller}:(.*)`))?.[1];
      return readFileSync(`/sys/fs/cgroup/${controller}${line}/${file}`, 'utf8').trim();
    };

    it('are promised', () => {
      const spec = { containers: [{ name: 'c', image: 'host', resources: { limits: { cpu: '1', memory: '1Gi' } } }] };
      const pod = { metadata: {}, spec, status: {} } as never;
      expect(world.runtime.ignoredRequests?.(pod)).toEqual([]);
      expect(world.runtime.rejection(pod)).toBeUndefined();
    });

    it('kill a program that takes more memory, and say so', async () => {
      const script = 'a = []; while (a.length < 512) a.push(Buffer.alloc(1 << 20, 1))';
      const container = await start([process.execPath, '-e', script], { memoryBytes: 96 * MEBIBYTE });
      expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
    });

    it('hold for the program, its children and further commands, and change while it runs', async () => {
      const resources = { memoryBytes: 64 * MEBIBYTE, cpuQuota: 20_000, cpuPeriod: 100_000 };
      const container = await start(['sh', '-c', 'sleep 1000 & echo $!; wait'], resources);
      await expect.poll(() => container.log()).not.toEqual([]);
      const child = (await container.log())[0]!.split(' ')[2]!;
      expect(limitOf(child, 'memory', 'memory.limit_in_bytes')).toBe(String(64 * MEBIBYTE));
      expect(limitOf(child, 'cpu', 'cpu.cfs_quota_us')).toBe('20000');
      const command = ['sh', '-c', 'cat /proc/$$/cgroup'];
      const { stdout } = await world.runtime.run(container.id, { command, timeoutMs: 10_000, maxBytes: 10_000 });
      const memoryOf = (text: string) => /:memory:.*/.exec(text)?.[0];
      expect(memoryOf(stdout.toString())).toBe(memoryOf(readFileSync(`/proc/${child}/cgroup`, 'utf8')));
      await world.runtime.updateResources(container.id, { ...NO_RESOURCES, memoryBytes: 128 * MEBIBYTE });
      expect(limitOf(child, 'memory', 'memory.limit_in_bytes')).toBe(String(128 * MEBIBYTE));
      const usage = (await world.runtime.usage()).find(({ id }) => id === container.id);
      expect(usage?.workingSet).toBeGreaterThan(0);
    });
  });
});
