import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { openCgroups } from '../cgroups/cgroups.ts';
import type { SandboxConfig } from '../runtime/sandbox-config.ts';
import { PodCgroups } from './pod-cgroups.ts';

const NO_LIMITS = {
  ...{ cpuShares: 2, cpuQuota: undefined, cpuPeriod: undefined, memoryBytes: undefined, oomScoreAdj: undefined },
  ...{ hugepages: [], cpusetCpus: undefined, unified: undefined },
};

const config = (qosClass: SandboxConfig['qosClass'], uid: string, changes: object = {}, attempt = 0) =>
  ({ qosClass, attempt, pod: { uid }, cgroupResources: { ...NO_LIMITS, ...changes } }) as unknown as SandboxConfig;

let root: string;
beforeEach(() => {
  root = temporaryDirectory();
});
/** Files instead of the kernel's, in one version: machines have the controllers in one version only. */
const VERSIONS = {
  'version 1': {
    mounts: () => {
      for (const name of ['cpu', 'memory', 'devices']) mkdirSync(join(root, name));
      return ['cpu', 'memory', 'devices'].map((name) => `cgroup ${join(root, name)} cgroup rw,${name} 0 0\n`).join('');
    },
    cpu: (path: string) => join(root, 'cpu', path, 'cpu.shares'),
    memory: (path: string) => join(root, 'memory', path, 'memory.limit_in_bytes'),
    shares: { pod: '1024', both: '1536', none: '2' },
  },
  'version 2': {
    mounts: () => {
      mkdirSync(join(root, 'all'));
      writeFileSync(join(root, 'all', 'cgroup.controllers'), 'cpu memory\n');
      return `cgroup2 ${join(root, 'all')} cgroup2 rw 0 0\n`;
    },
    cpu: (path: string) => join(root, 'all', path, 'cpu.weight'),
    memory: (path: string) => join(root, 'all', path, 'memory.max'),
    shares: { pod: '39', both: '59', none: '1' },
  },
};

describe.each(Object.entries(VERSIONS))('the cgroups of pods in %s', (_, { mounts, cpu, memory, shares }) => {
  const open = () => {
    writeFileSync(join(root, 'mounts'), mounts());
    return new PodCgroups(openCgroups(join(root, 'mounts'))!, 'n');
  };
  const content = (file: string) => readFileSync(file, 'utf8');

  it('stand by quality of service, each with the limits of its pod', () => {
    const cgroups = open();
    const guaranteed = config('Guaranteed', 'g', { memoryBytes: 1 << 20 });
    cgroups.create(guaranteed);
    cgroups.create(config('BestEffort', 'e'));
    expect(cgroups.pathOf(guaranteed)).toBe('/quarterdeck-n/podg');
    expect(content(memory('/quarterdeck-n/podg'))).toBe('1048576');
    expect(content(cpu('/quarterdeck-n/besteffort/pode'))).toBe(shares.none);
    cgroups.update('/quarterdeck-n/podg', { ...NO_LIMITS, memoryBytes: 2 << 20 });
    expect(content(memory('/quarterdeck-n/podg'))).toBe('2097152');
    expect(cgroups.pathOf(config('Burstable', 'u', {}, 3))).toBe('/quarterdeck-n/burstable/podu-3');
  });

  it('share the processors by their requests, whatever their class', () => {
    const cgroups = open();
    cgroups.create(config('Burstable', 'a', { cpuShares: 1024 }));
    expect(content(cpu('/quarterdeck-n/burstable'))).toBe(shares.pod);
    cgroups.create(config('Burstable', 'b', { cpuShares: 512 }));
    expect(content(cpu('/quarterdeck-n/burstable'))).toBe(shares.both);
  });
});

it('a cgroup goes with its pod, also those of controllers that limit nothing', () => {
  writeFileSync(join(root, 'mounts'), VERSIONS['version 1'].mounts());
  const cgroups = new PodCgroups(openCgroups(join(root, 'mounts'))!, 'n');
  const path = '/quarterdeck-n/burstable/poda';
  // As a runtime does for a container.
  mkdirSync(join(root, 'devices', path, 'container'), { recursive: true });
  mkdirSync(join(root, 'cpu', path, 'container'), { recursive: true });
  cgroups.remove(path);
  expect(['devices', 'cpu'].filter((name) => existsSync(join(root, name, path)))).toEqual([]);
});
