/** Tests the configuration of a container. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Mount } from '../../../src/node/runtime/container-config.ts';
import { NO_RESOURCES, PLAIN_SECURITY, type Subject, type TestContainer, type World } from '../world.ts';

export function describeConfiguration({ world, lacks }: Subject): void {
  it('runs the entry point and arguments of the image', async () => {
    const container = await world().create({});
    await world().runtime.startContainer(container.id);
    expect(await container.output()).toBe('entrypoint from the image');
  });

  it('replaces the arguments of the image', async () => {
    const container = await world().create({ args: ['other', '$HOME'] });
    await world().runtime.startContainer(container.id);
    expect(await container.output()).toBe('entrypoint other $HOME');
  });

  it('replaces the entry point of the image, and with it the arguments', async () => {
    const container = await world().create({ command: ['/bin/echo', 'mine'] });
    await world().runtime.startContainer(container.id);
    expect(await container.output()).toBe('mine');
  });

  it('has the variables of the image and its own', async () => {
    const env = [
      { name: 'OWN', value: 'a b\n"c"' },
      { name: 'EMPTY', value: '' },
    ];
    const container = await world().run('echo "$FROM_IMAGE|$OWN|$EMPTY|$(env | grep -c ^EMPTY=)"', { env });
    expect(await container.output()).toBe('yes|a b\n"c"||1');
  });

  it('starts in the working directory of the image, or its own', async () => {
    const [first, second] = [await world().run('pwd'), await world().run('pwd', { workingDirectory: '/tmp' })];
    expect([await first.output(), await second.output()]).toEqual(['/work', '/tmp']);
  });

  it('mounts folders and files of the node', async () => {
    const folder = await world().folder('volume');
    await writeFile(`${folder}/in`, 'from the node');
    const mounts = [
      mount({ hostPath: folder, containerPath: '/data' }),
      mount({ hostPath: `${folder}/in`, containerPath: '/in' }),
    ];
    const container = await world().run('cat /data/in /in; printf "from the container" > /data/out', { mounts });
    expect(await container.output()).toBe('from the nodefrom the node');
    expect(await readFile(`${folder}/out`, 'utf8')).toBe('from the container');
  });

  it('makes the directory of a volume that is not there', async () => {
    const folder = join(await world().folder('parent'), 'missing', 'inner');
    const mounts = [mount({ hostPath: folder, containerPath: '/data' })];
    const container = await world().run('ls /data && echo empty', { mounts });
    expect(await container.output()).toBe('empty');
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not write to what is mounted read-only', async () => {
    const folder = await world().folder('read-only');
    const mounts = [mount({ hostPath: folder, containerPath: '/data', readOnly: true })];
    const container = await world().run('touch /data/x && echo written || echo rejected', { mounts });
    expect(await container.output()).toBe('rejected');
  });

  it.skipIf(lacks.groups)('runs as the user and groups that are asked for', async () => {
    const security = { ...PLAIN_SECURITY, runAsUser: 1000, runAsGroup: 2000, supplementalGroups: [3000, 4000] };
    const container = await world().run('id -u; id -g; id -G', { security });
    const [user, group, groups] = (await container.output()).split('\n');
    expect([user, group]).toEqual(['1000', '2000']);
    expect(groups?.split(' ').toSorted()).toEqual(['2000', '3000', '4000']);
  });

  it('runs as a user of the image by name', async () => {
    const container = await world().run('id -u; id -g', { security: { ...PLAIN_SECURITY, runAsUsername: 'user' } });
    expect(await container.output()).toBe('1234\n1234');
  });

  it.skipIf(lacks.security)('has the capabilities that are asked for', async () => {
    const effective = async (changes: Partial<typeof PLAIN_SECURITY>) => {
      const container = await world().run('grep CapEff /proc/self/status', {
        security: { ...PLAIN_SECURITY, ...changes },
      });
      return BigInt(`0x${(await container.output()).split('\t')[1]}`);
    };
    expect(await effective({ dropCapabilities: ['ALL'] })).toBe(0n);
    expect(await effective({ dropCapabilities: ['ALL'], addCapabilities: ['NET_ADMIN'] })).toBe(1n << 12n);
  });

  it.skipIf(lacks.security)('has a root that cannot be written to, and no new privileges', async () => {
    const security = { ...PLAIN_SECURITY, readOnlyRoot: true, noNewPrivileges: true };
    const container = await world().run('touch /x || echo rejected; grep NoNewPrivs /proc/self/status', { security });
    expect(await container.output()).toBe('rejected\nNoNewPrivs:\t1');
  });

  it.skipIf(lacks.security)('runs privileged', async () => {
    const sandbox = world().sandbox({ namespaces: { ...world().sandbox().namespaces, user: undefined } });
    const privileged = { ...sandbox, security: { ...sandbox.security, privileged: true } };
    const security = { ...PLAIN_SECURITY, privileged: true, maskedPaths: [], readOnlyPaths: [] };
    const script = 'mkdir -p /tmp/m && [ -w /proc/sys/kernel/hostname ] && echo writable';
    const container = await world().run(script, { security }, privileged);
    expect(await container.output()).toBe('writable');
  });

  it.skipIf(lacks.namespaces)('sees what the node mounts later where it asks for that, and nowhere else', async () => {
    await inSharedMount(world(), async (folder) => {
      const seen = (propagation: Mount['propagation']) =>
        world().run('sleep 1000', { mounts: [mount({ hostPath: folder, containerPath: '/data', propagation })] });
      const [follower, other] = [await seen('host-to-container'), await seen('private')];
      mountMemory(join(folder, 'later'));
      expect(await said(world(), follower.id, 'cat /data/later/file')).toBe('from the node');
      expect(await said(world(), other.id, 'cat /data/later/file || echo nothing')).toBe('nothing');
    });
  });

  it.skipIf(lacks.namespaces)(
    'mounts for the node and for other pods where it asks for that, and nowhere else',
    async () => {
      await inSharedMount(world(), async (folder) => {
        const names = ['master', 'follower', 'other', 'node'] as const;
        for (const name of names) await mkdir(join(folder, name));
        const run = (propagation: Mount['propagation']) => privileged(world(), folder, propagation);
        const pods = {
          master: await run('bidirectional'),
          follower: await run('host-to-container'),
          other: await run('private'),
        };
        for (const [name, { id }] of Object.entries(pods)) {
          const script = `/bin/busybox mount -t tmpfs own /data/${name} && echo from ${name} > /data/${name}/file`;
          await said(world(), id, script);
        }
        mountMemory(join(folder, 'node'));
        const seen = async (id: string) => (await said(world(), id, 'cat /data/*/file')).split('\n').toSorted();
        const byPod = Object.entries(pods).map(async ([name, { id }]) => [name, await seen(id)] as const);
        expect(Object.fromEntries(await Promise.all(byPod))).toEqual({
          master: ['from master', 'from the node'],
          follower: ['from follower', 'from master', 'from the node'],
          other: ['from other'],
        });
        const onNode = names.filter((name) => existsSync(join(folder, name, 'file')));
        expect(onNode).toEqual(['master', 'node']);
        await said(world(), pods.master.id, '/bin/busybox umount /data/master');
        expect(existsSync(join(folder, 'master', 'file'))).toBe(false);
      });
    },
  );

  it.skipIf(lacks.namespaces)('cannot mount for the node where the node shares no mounts', async () => {
    await inSharedMount(world(), async (folder) => {
      execFileSync('mount', ['--make-private', folder]);
      await expect(privileged(world(), folder, 'bidirectional')).rejects.toThrow(/ is not a shared mount/);
    });
  });

  it.skipIf(lacks.namespaces)('has the name of its pod, and its processes for itself', async () => {
    const sandbox = world().sandbox({ hostname: 'some-name' });
    const container = await world().run('hostname; echo $$', {}, sandbox);
    expect(await container.output()).toBe('some-name\n1');
  });

  it.skipIf(lacks.namespaces)('has the name of the node on the network of the node', async () => {
    const { namespaces } = world().sandbox();
    const sandbox = world().sandbox({ hostname: '', namespaces: { ...namespaces, network: 'node', user: undefined } });
    const container = await world().run('hostname; cat /etc/hostname; echo "$HOSTNAME"', {}, sandbox);
    expect(await container.output()).toBe(Array(3).fill(hostname()).join('\n'));
  });

  it.skipIf(lacks.namespaces)('shares processes with the pod, or with a container', async () => {
    const { namespaces } = world().sandbox();
    const sandbox = world().sandbox({ namespaces: { ...namespaces, pid: 'pod' } });
    const shared = await world().run('echo $$', { security: { ...PLAIN_SECURITY, pid: 'pod' } }, sandbox);
    expect(await shared.output()).not.toBe('1');

    const plain = world().sandbox();
    const target = await world().run('exec sleep 12345', {}, plain);
    const security = { ...PLAIN_SECURITY, pid: { containerId: target.id } };
    const script = { name: 'debugger', command: ['/bin/sh', '-c', 'tr "\\000" " " < /proc/1/cmdline'], security };
    const id = await world().runtime.createContainer(target.sandboxId, world().container(script), plain);
    await world().runtime.startContainer(id);
    const { logPath } = await world().until(async () => {
      const container = await world().runtime.container(id);
      return container?.state === 'exited' ? container : undefined;
    });
    expect(await readFile(logPath, 'utf8')).toContain('sleep 12345');
  });

  it('resolves names as it is told', async () => {
    const dns = { servers: ['10.9.8.7'], searches: ['one.test', 'two.test'], options: ['ndots:5'] };
    const container = await world().run('cat /etc/resolv.conf', {}, world().sandbox({ dns }));
    const output = await container.output();
    expect(output).toContain('nameserver 10.9.8.7');
    expect(output).toContain('search one.test two.test');
    expect(output).toContain('options ndots:5');
  });

  it.skipIf(lacks.resources)('limits memory and processor time, and changes the limits', async () => {
    const resources = {
      ...NO_RESOURCES,
      memoryBytes: 64 * 2 ** 20,
      cpuShares: 512,
      cpuQuota: 20_000,
      cpuPeriod: 100_000,
    };
    const { id } = await world().run('sleep 1000', { resources });
    const limits = async () => {
      const script =
        'cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us 2>/dev/null || cat memory.max cpu.max';
      const request = { command: ['/bin/sh', '-c', script], timeoutMs: 10_000, maxBytes: 1000 };
      return String((await world().runtime.run(id, request)).stdout)
        .trim()
        .split(/\s+/)
        .slice(0, 2);
    };
    expect(await limits()).toEqual([String(64 * 2 ** 20), '20000']);
    await world().runtime.updateResources(id, { ...resources, memoryBytes: 96 * 2 ** 20, cpuQuota: 30_000 });
    expect(await limits()).toEqual([String(96 * 2 ** 20), '30000']);
  });

  it.skipIf(lacks['pod cgroups'])(
    'limits a pod as a whole, whatever its containers have, and changes its limits',
    async () => {
      const MI = 2 ** 20;
      const limited = (memory: number, cpuQuota: number) => ({
        ...{ ...NO_RESOURCES, memoryBytes: memory * MI, cpuQuota, cpuPeriod: 100_000 },
      });
      const resources = limited(32, 20_000);
      const sandbox = world().sandbox({ cgroupResources: limited(64, 50_000) });
      const { id, sandboxId } = await world().run('sleep 1000', { resources }, sandbox);
      const limits = async () => {
        const [memory] = await podCgroup(id, 'memory.limit_in_bytes', 'memory.max');
        const [cpu = ''] = await podCgroup(id, 'cpu.cfs_quota_us', 'cpu.max');
        return [memory, cpu.split(' ')[0]];
      };
      expect(await limits()).toEqual([String(64 * MI), '50000']);
      // A pod grows before its containers and shrinks after them: version 1 of cgroups allows no more inside than outside.
      await world().runtime.updateSandbox(sandboxId, limited(128, 80_000));
      await world().runtime.updateResources(id, limited(64, 80_000));
      expect(await limits()).toEqual([String(128 * MI), '80000']);
      await world().runtime.updateResources(id, limited(24, 10_000));
      await world().runtime.updateSandbox(sandboxId, limited(48, 10_000));
      expect(await limits()).toEqual([String(48 * MI), '10000']);
      await world().runtime.sandboxes();
      const usage = (await world().runtime.podUsage!()).find((each) => each.id === sandboxId);
      expect(usage?.workingSet).toBeGreaterThan(0);
      const sums = await world().run('sleep 1000', {}, world().sandbox({ resources }));
      expect(await podCgroup(sums.id, 'memory.limit_in_bytes', 'memory.max')).not.toEqual([String(32 * MI)]);
      const folders = await cgroupsNamed(id);
      expect(folders).not.toEqual([]);
      await world().removeAll();
      const left = () => folders.filter((folder) => existsSync(join(folder, '..')));
      await expect.poll(left).toEqual([]);
    },
  );

  it.skipIf(lacks['pod cgroups'])('names the cgroup of a pod by its UID, as kubelet does', async () => {
    const uid = 'a4c01f1e-8f0c-4b8f-a5a4-6a2b4c0d5e01';
    const sandbox = world().sandbox({ pod: { namespace: 'default', name: 'named', uid } });
    const { id } = await world().run('sleep 1000', {}, sandbox);
    const names = (await cgroupsNamed(id)).map((folder) => basename(dirname(folder)));
    expect(new Set(names)).toEqual(new Set([`pod${uid}`]));
  });

  it.skipIf(lacks['pod cgroups'])('shrinks a pod below what a container had that has ended', async () => {
    const limited = (cpuQuota: number) => ({ ...NO_RESOURCES, cpuQuota, cpuPeriod: 100_000 });
    const sandbox = world().sandbox({ cgroupResources: limited(50_000) });
    const earlier = await world().run('exit 0', { resources: limited(50_000) }, sandbox);
    await earlier.ended();
    const command = ['/bin/sleep', '1000'];
    const later = world().container({ attempt: 1, command, resources: limited(20_000) });
    const { runtime } = world();
    const id = await runtime.createContainer(earlier.sandboxId, later, sandbox);
    await runtime.startContainer(id);
    await runtime.updateSandbox(earlier.sandboxId, limited(20_000));
    const [cpu = ''] = await podCgroup(id, 'cpu.cfs_quota_us', 'cpu.max');
    expect(cpu.split(' ')[0]).toBe('20000');
  });

  it.skipIf(lacks['pod cgroups'])('measures how a limit holds up a container, and the traffic of its pod', async () => {
    const resources = { ...NO_RESOURCES, cpuQuota: 5_000, cpuPeriod: 100_000 };
    const { id, sandboxId } = await world().run('while true; do :; done', { resources });
    const { runtime } = world();
    await Promise.all([runtime.sandboxes(), runtime.containers()]);
    const throttling = async () => (await runtime.usage()).find((each) => each.id === id)?.throttling;
    await expect.poll(async () => (await throttling())?.throttledPeriods).toBeGreaterThan(0);
    expect((await throttling())!.throttledNanoseconds).toBeGreaterThan(0);
    const { network } = (await runtime.podUsage!()).find((each) => each.id === sandboxId)!;
    const counters = { bytes: expect.any(Number), packets: expect.any(Number) };
    expect(network).toMatchObject([{ interface: expect.any(String), received: counters, sent: counters }]);
  });

  it.skipIf(lacks.resources)('says that a container ran out of memory', async () => {
    const resources = { ...NO_RESOURCES, memoryBytes: 16 * 2 ** 20 };
    const container = await world().run('x=$(head -c 100000000 /dev/zero | tr "\\000" x); echo "$x"', { resources });
    expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });
}

/** Lends a folder on a mount whose changes other mount namespaces see, with an empty folder `later` in it. */
async function inSharedMount(world: World, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await world.folder('shared');
  execFileSync('mount', ['--bind', folder, folder]);
  try {
    execFileSync('mount', ['--make-shared', folder]);
    await mkdir(join(folder, 'later'), { recursive: true });
    await use(folder);
  } finally {
    await world.removeAll();
    execFileSync('umount', ['--recursive', folder]);
  }
}

/** Starts a privileged container, which may mount. */
function privileged(world: World, folder: string, propagation: Mount['propagation']): Promise<TestContainer> {
  const { namespaces, security: own } = world.sandbox();
  const host = { namespaces: { ...namespaces, user: undefined }, security: { ...own, privileged: true } };
  const security = { ...PLAIN_SECURITY, privileged: true, maskedPaths: [], readOnlyPaths: [] };
  const mounts = [mount({ hostPath: folder, containerPath: '/data', propagation })];
  return world.run('sleep 1000', { mounts, security }, world.sandbox(host));
}

function mountMemory(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', 'later', folder]);
  writeFileSync(join(folder, 'file'), 'from the node');
}

async function said(world: World, id: string, script: string): Promise<string> {
  const request = { command: ['/bin/sh', '-c', script], timeoutMs: 10_000, maxBytes: 1_000 };
  return String((await world.runtime.run(id, request)).stdout).trim();
}

function mount(changes: Partial<Mount>): Mount {
  return {
    hostPath: '',
    containerPath: '',
    readOnly: false,
    recursiveReadOnly: false,
    propagation: 'private',
    selinuxRelabel: false,
    idMappings: undefined,
    image: undefined,
    ...changes,
  };
}

/** The folders of a container's cgroup, which is in that of its pod. */
async function cgroupsNamed(id: string, folder = '/sys/fs/cgroup'): Promise<readonly string[]> {
  const folders = (await foldersIn(folder)).map((name) => join(folder, name));
  const inner = await Promise.all(folders.map((each) => cgroupsNamed(id, each)));
  return [...folders.filter((each) => basename(each) === id), ...inner.flat()];
}

/**
 * Returns the names of the folders in a folder; none if it is gone, because cgroups of other pods are removed
 * meanwhile.
 */
async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((each) => each.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Reads a file of a pod's cgroup, which has another name in version 2. */
async function podCgroup(containerId: string, ...files: readonly string[]): Promise<readonly string[]> {
  const found = (await cgroupsNamed(containerId)).flatMap((folder) => files.map((file) => join(folder, '..', file)));
  return found.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8').trim());
}
