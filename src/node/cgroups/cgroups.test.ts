/** Version 2 on files that look like the kernel's, since machines have the controllers in one version only. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { openCgroups, openDelegatedCgroups } from './cgroups.ts';

const RESOURCES = {
  ...{ cpuShares: 1024, cpuQuota: 50_000, cpuPeriod: 100_000, memoryBytes: 1 << 20, oomScoreAdj: undefined },
  ...{ hugepages: [], cpusetCpus: undefined, unified: undefined },
};

let root: string;
const table = () => join(root, 'mounts');
const folder = (path: string) => join(root, 'cgroup', path);
const file = (path: string, name: string) => join(folder(path), name);
const content = (path: string, name: string) => readFileSync(file(path, name), 'utf8');

/** A cgroup as the kernel makes it. */
function cgroup(path: string, files: Record<string, string> = {}): void {
  mkdirSync(folder(path), { recursive: true });
  const all = { 'cgroup.controllers': 'cpuset cpu memory pids\n', 'cgroup.subtree_control': '\n', ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(file(path, name), text);
}

beforeEach(() => {
  root = temporaryDirectory();
  cgroup('');
  writeFileSync(table(), `proc /proc proc rw 0 0\ncgroup2 ${folder('')} cgroup2 rw,nosuid 0 0\n`);
});
it('is used where the memory controller is in version 2', () => {
  expect(openCgroups(table())).toMatchObject({ version: 2, mounts: 'unified' });
  writeFileSync(file('', 'cgroup.controllers'), 'cpu pids\n');
  expect(openCgroups(table())).toBeUndefined();
  writeFileSync(table(), 'proc /proc proc rw 0 0\n');
  expect(openCgroups(table())).toBeUndefined();
});

it('is used in version 1 where the controllers are there, although version 2 is mounted, too', () => {
  mkdirSync(join(root, 'memory'));
  const line = `cgroup ${join(root, 'memory')} cgroup rw,memory 0 0\n`;
  writeFileSync(table(), `cgroup2 ${folder('')} cgroup2 rw 0 0\n${line}`);
  expect(openCgroups(table())).toMatchObject({ version: 1, mounts: ['memory'] });
});

it('hands controllers down to each level, and sets the limits', () => {
  const cgroups = openCgroups(table())!;
  for (const path of ['qd', 'qd/pod']) cgroup(path, { 'cgroup.subtree_control': 'cpuset cpu memory\n' });
  expect(cgroups.create('/qd/pod/c', RESOURCES)).toEqual([file('qd/pod/c', 'cgroup.procs')]);
  // One write for each controller; of a file, the last one is left.
  expect(content('', 'cgroup.subtree_control')).toBe('+cpuset');
  for (const path of ['qd', 'qd/pod']) expect(content(path, 'cgroup.subtree_control')).toBe('+pids');
  expect(content('qd/pod/c', 'memory.max')).toBe('1048576');
  expect(content('qd/pod/c', 'cpu.weight')).toBe('39');
  expect(content('qd/pod/c', 'cpu.max')).toBe('50000 100000');
  cgroups.update('/qd/pod/c', { ...RESOURCES, memoryBytes: 2 << 20 });
  expect(content('qd/pod/c', 'memory.max')).toBe('2097152');
});

it('says which limit cannot be set', () => {
  const cgroups = openCgroups(table())!;
  expect(() => cgroups.update('/none', RESOURCES)).toThrow(/^cannot set .*\/none\/memory\.max to 1048576: /);
});

it('reports what is used, and what was killed for want of memory', () => {
  const cgroups = openCgroups(table())!;
  expect(cgroups.usage('/c')).toBeUndefined();
  cgroup('c', {
    'memory.current': '9000\n',
    'memory.stat': 'anon 4000\nfile 5000\ninactive_file 3000\n',
    'cpu.stat': 'usage_usec 12\nuser_usec 10\n',
    'memory.events': 'low 0\noom 2\noom_kill 1\n',
  });
  expect(cgroups.usage('/c')).toEqual({ cpuNanoseconds: 12_000, workingSet: 6_000, rss: 4_000 });
  expect([cgroups.oomKills('/c'), cgroups.oomKills('/none')]).toEqual([1, 0]);
});

it('reports how often a limit of processor time has held it up', () => {
  const cgroups = openCgroups(table())!;
  const limited = 'usage_usec 12\nnr_periods 40\nnr_throttled 3\nthrottled_usec 250\n';
  cgroup('limited', { 'memory.current': '1\n', 'memory.stat': '', 'cpu.stat': limited });
  cgroup('free', { 'memory.current': '1\n', 'memory.stat': '', 'cpu.stat': 'usage_usec 12\nnr_periods 0\n' });
  expect(cgroups.usage('/limited')?.throttling).toEqual({
    ...{ periods: 40, throttledPeriods: 3, throttledNanoseconds: 250_000 },
  });
  expect(cgroups.usage('/free')).not.toHaveProperty('throttling');
});

it('finds a process in a cgroup', () => {
  const cgroups = openCgroups(table())!;
  cgroup('used', { 'cgroup.procs': '17\n18\n' });
  cgroup('unused', { 'cgroup.procs': '' });
  expect(['/used', '/unused', '/none'].map((path) => cgroups.process(path))).toEqual([17, undefined, undefined]);
});

it('kills everything at once', () => {
  cgroup('c', { 'cgroup.kill': '' });
  openCgroups(table())!.kill('/c');
  expect(content('c', 'cgroup.kill')).toBe('1');
});

it('removes a cgroup with those in it, unless something is left', () => {
  const cgroups = openCgroups(table())!;
  mkdirSync(folder('pod/c'), { recursive: true });
  expect(cgroups.remove('/pod')).toBe(true);
  expect(cgroups.remove('/pod')).toBe(true);
  cgroup('full');
  expect(cgroups.remove('/full')).toBe(false);
});

it('limits processes where the controller is there, and does without it elsewhere', () => {
  const cgroups = openCgroups(table())!;
  cgroup('qd/with', { 'pids.max': 'max\n' });
  cgroup('qd/without');
  cgroups.update('/qd/with', { ...RESOURCES, pidsLimit: 100 });
  cgroups.update('/qd/without', { ...RESOURCES, pidsLimit: 100 });
  expect(content('qd/with', 'pids.max')).toBe('100');
  expect(existsSync(file('qd/without', 'pids.max'))).toBe(false);
});

describe('those that are delegated to a user', () => {
  const membership = () => join(root, 'membership');
  const open = () => openDelegatedCgroups(table(), membership());
  const OWN = '/user.slice/user@1000.service/app.slice/qd.scope';

  /** What systemd makes: everything from the service of the user on belongs to the user. */
  function systemd(): void {
    for (const path of ['user.slice', 'user.slice/user@1000.service', 'user.slice/user@1000.service/app.slice', OWN])
      cgroup(path, { 'cgroup.controllers': 'memory pids\n', 'cgroup.procs': '' });
    // Root, who may run this, may write every file that is there.
    for (const path of ['', 'user.slice']) rmSync(file(path, 'cgroup.subtree_control'));
    writeFileSync(membership(), `0::${OWN}\n`);
  }

  it('are below the uppermost that belongs to the user', () => {
    systemd();
    const cgroups = open()!;
    expect([...cgroups.controllers].sort()).toEqual(['memory', 'pids']);
    expect(content('user.slice/user@1000.service', 'cgroup.subtree_control')).toBe('+pids');
    const path = 'user.slice/user@1000.service/qd/pod/c';
    for (const each of ['', '/pod']) cgroup(`user.slice/user@1000.service/qd${each}`);
    expect(cgroups.create('/qd/pod/c', RESOURCES)).toEqual([file(path, 'cgroup.procs')]);
    expect(cgroups.entries('/qd/pod/c')).toEqual([file(path, 'cgroup.procs')]);
    expect(content(path, 'memory.max')).toBe('1048576');
    // Nobody has delegated this controller.
    expect(existsSync(file(path, 'cpu.max'))).toBe(false);
  });

  it('are elsewhere if one has processes of its own', () => {
    systemd();
    // As if the kernel rejected it.
    const busy = file('user.slice/user@1000.service', 'cgroup.subtree_control');
    rmSync(busy);
    mkdirSync(busy);
    open();
    expect(content('user.slice/user@1000.service/app.slice', 'cgroup.subtree_control')).toBe('+pids');
  });

  it('are none where nobody has delegated any', () => {
    systemd();
    writeFileSync(membership(), '0::/../elsewhere\n');
    expect(open()).toBeUndefined();
    writeFileSync(membership(), '0::/gone\n');
    expect(open()).toBeUndefined();
    rmSync(membership());
    expect(open()).toBeUndefined();
  });

  it('are by controller in version 1', () => {
    const own = (controller: string) => join(root, controller, 'user/alice/0');
    for (const controller of ['memory', 'cpu', 'pids']) mkdirSync(own(controller), { recursive: true });
    const lines = ['memory', 'cpu', 'pids', 'blkio'].map((name) => `cgroup ${join(root, name)} cgroup rw,${name} 0 0`);
    writeFileSync(table(), `${lines.join('\n')}\n`);
    writeFileSync(membership(), '3:memory:/user/alice/0\n2:cpu:/user/alice/0\n1:pids:/gone\n0::/\n');
    const cgroups = open()!;
    expect([...cgroups.controllers].sort()).toEqual(['cpu', 'memory']);
    const [entry = ''] = cgroups.create('/qd/c', RESOURCES);
    expect(readFileSync(join(entry, '..', 'memory.limit_in_bytes'), 'utf8')).toBe('1048576');
    expect(cgroups.entries('/qd/c')).toHaveLength(2);
  });
});
