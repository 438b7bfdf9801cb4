import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { type DescribeSettings, describeMachine } from './describe.ts';
import { Host } from './host.ts';
import { observationsOf, observeMachine } from './observe.ts';

let root: string;
beforeEach(() => {
  root = temporaryDirectory();
});
const MEMINFO = `MemTotal:        1024000 kB
MemFree:          200000 kB
Inactive(file):   100000 kB
AnonPages:        300000 kB
SwapTotal:          1000 kB
`;

function host(files: Record<string, string>): Host {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return new Host(root);
}

const settings = (): DescribeSettings => ({
  directory: root,
  maxPods: 110,
  reserved: {},
  architecture: 'x64',
  runtimeVersion: () => 'process://0.1.0',
  kubeletVersion: 'v1.36.0+quarterdeck',
});

test('a machine is described from its files', async () => {
  const machine = host({
    'proc/cpuinfo': 'processor\t: 0\nmodel name : x\n\nprocessor\t: 1\n',
    'proc/meminfo': MEMINFO,
    'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '3\n',
    'sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0\n',
    'etc/machine-id': 'abc\n',
    'proc/sys/kernel/random/boot_id': 'boot\n',
    'proc/sys/kernel/osrelease': '6.1.0-debian\n',
    'etc/os-release': 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
  });
  const { capacity, allocatable, nodeInfo } = await describeMachine(machine, {
    ...settings(),
    reserved: { cpu: '500m', memory: '100Mi' },
  });
  expect(capacity).toMatchObject({
    cpu: '2',
    memory: '1024000Ki',
    pods: '110',
    'hugepages-2Mi': '6Mi',
    'hugepages-1Gi': '0',
  });
  // Less 100Mi for eviction, 6Mi of huge pages, and what is reserved.
  expect(allocatable).toMatchObject({ cpu: '1500m', memory: `${1000 - (100 + 6 + 100)}Mi`, pods: '110' });
  const disk = await machine.fileSystem(root);
  expect(capacity['ephemeral-storage']).toBe(`${Math.floor(disk.capacityBytes / 1024)}Ki`);
  expect(allocatable['ephemeral-storage']).toBe(String(Math.floor(disk.capacityBytes * 0.9)));
  expect(nodeInfo).toEqual({
    machineID: 'abc',
    systemUUID: 'abc',
    bootID: 'boot',
    kernelVersion: '6.1.0-debian',
    osImage: 'Debian GNU/Linux 12 (bookworm)',
    containerRuntimeVersion: 'process://0.1.0',
    kubeletVersion: 'v1.36.0+quarterdeck',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
    swap: { capacity: 1_024_000 },
  });
});

test('this machine can be described', async () => {
  const { capacity, nodeInfo } = await describeMachine(new Host(), settings());
  expect(Number(capacity.cpu)).toBeGreaterThan(0);
  expect(Number.parseInt(capacity.memory!, 10)).toBeGreaterThan(100_000);
  expect(nodeInfo.kernelVersion).toMatch(/^\d+\.\d+/);
});

test('a reservation larger than the machine leaves nothing', async () => {
  const machine = host({ 'proc/meminfo': MEMINFO });
  const { allocatable } = await describeMachine(machine, { ...settings(), reserved: { cpu: '9', memory: '9Gi' } });
  expect(allocatable).toMatchObject({ cpu: '0', memory: '0' });
});

test('what is left is observed', async () => {
  const machine = host({
    'proc/meminfo': MEMINFO,
    'proc/stat': 'cpu  100 10 50 9999 5 1 2 3 0 0\ncpu0 1 1\n',
    'proc/loadavg': '0.10 0.20 0.30 2/345 6789\n',
    'proc/sys/kernel/pid_max': '32768\n',
    'proc/sys/kernel/threads-max': '1000\n',
  });
  const usage = await observeMachine(machine, { node: root, images: root }, 77);
  expect(usage).toMatchObject({
    time: 77,
    cpuNanoseconds: (100 + 10 + 50 + 1 + 2 + 3) * 1e7,
    memory: {
      totalBytes: 1_048_576_000,
      usedBytes: 824_000 * 1024,
      workingSetBytes: 724_000 * 1024,
      rssBytes: 300_000 * 1024,
    },
    processes: { running: 345, max: 1000 },
  });
  expect(observationsOf(usage)).toMatchObject({
    'memory.available': { available: 300_000 * 1024, capacity: 1_048_576_000 },
    'pid.available': { available: 655, capacity: 1000 },
  });
});

test('the version of cgroups is found', async () => {
  expect(await host({}).cgroupVersion()).toBe(1);
  expect(await host({ 'sys/fs/cgroup/cgroup.controllers': 'cpu memory' }).cgroupVersion()).toBe(2);
});
