/** The cgroups of sandboxes and containers, in both versions of Linux' cgroups. */

import { accessSync, constants, existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../base/own-files/make-directories.ts';
import type { ContainerResources } from '../runtime/container-config.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Throttling } from '../runtime/usage.ts';
import { anticipateMoves } from './anticipate-moves.ts';
import { limitsOf } from './limits.ts';

const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids', 'hugetlb', 'cpuset'];
/** A version 1 cpuset needs its processors written before anything can enter, which nothing here limits. */
const CONTROLLERS_OF_VERSION_1 = CONTROLLERS.filter((name) => name !== 'cpuset');
const PROCESSES = 'cgroup.procs';
const MIN_SHARES = 2;
const MAX_WEIGHT = 10_000;
const NANOSECONDS_PER_MICROSECOND = 1_000;

export interface CgroupUsage {
  readonly cpuNanoseconds: number;
  readonly workingSet: number;
  readonly rss: number | undefined;
  /** Present where the processor time is limited. */
  readonly throttling?: Throttling;
}

export interface Cgroups {
  readonly version: 1 | 2;
  /** How containers mount them: by controller, or as one. */
  readonly mounts: readonly string[] | 'unified';
  /** Makes the cgroup of this path, such as `/name/pod/container`, and returns the files that processes enter it by. */
  create(path: string, resources: ContainerResources | undefined): string[];
  update(path: string, resources: ContainerResources): void;
  usage(path: string): CgroupUsage | undefined;
  /** A process in it; undefined if there is none. */
  process(path: string): number | undefined;
  /** How often the kernel killed a process in it for want of memory. */
  oomKills(path: string): number;
  /** Makes the next moves of processes to cgroups faster. */
  anticipateMoves(): void;
  /** Kills everything in it. */
  kill(path: string): void;
  /** Gives a cgroup the share of the processors that those in it have together. */
  sumShares(path: string): void;
  /** Removes it with those in it if nothing runs there, also for controllers that nothing is limited by. Returns whether it is gone. */
  remove(path: string): boolean;
}

/** Undefined if this machine has none that this process may write. `mountTable` is the file that lists the mounts. */
export function openCgroups(mountTable = '/proc/self/mounts'): Cgroups | undefined {
  let mounts: string[][];
  try {
    mounts = readFileSync(mountTable, 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
  } catch {
    return undefined;
  }
  const isWritable = (path: string) => {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  const byController = new Map<string, string>();
  const hierarchies: string[] = [];
  for (const [, point, type, options] of mounts) {
    if (!type?.startsWith('cgroup') || !isWritable(point!)) continue;
    hierarchies.push(point!);
    if (type !== 'cgroup') continue;
    for (const name of options!.split(',')) if (CONTROLLERS_OF_VERSION_1.includes(name)) byController.set(name, point!);
  }
  if (byController.has('memory')) return version1(byController, hierarchies);
  const unified = mounts.find(([, point, type]) => type === 'cgroup2' && isWritable(point!))?.[1];
  return unified && readText(join(unified, 'cgroup.controllers'))?.includes('memory') ? version2(unified) : undefined;
}

/** `hierarchies` are all that container runtimes make cgroups in. */
function version1(roots: ReadonlyMap<string, string>, hierarchies: readonly string[]): Cgroups {
  const folders = (path: string) => [...new Set([...roots.values()].map((root) => join(root, path)))];
  const fileOf = (path: string, controller: string, file: string) =>
    join(roots.get(controller) ?? '/nowhere', path, file);
  const update = (path: string, resources: ContainerResources) => {
    for (const [controller, file, value] of limitsOf(resources, 1))
      if (roots.has(controller)) writeLimit(fileOf(path, controller, file), value);
  };
  return {
    version: 1,
    mounts: [...roots.keys()],
    create(path, resources) {
      for (const folder of folders(path)) makeDirectoriesSync(folder);
      if (resources) update(path, resources);
      return folders(path).map((folder) => join(folder, PROCESSES));
    },
    update,
    usage(path) {
      const used = numberIn(fileOf(path, 'memory', 'memory.usage_in_bytes'));
      const stat = pairsIn(fileOf(path, 'memory', 'memory.stat'));
      if (used === undefined) return undefined;
      return {
        cpuNanoseconds: numberIn(fileOf(path, 'cpuacct', 'cpuacct.usage')) ?? 0,
        workingSet: Math.max(0, used - (stat.get('total_inactive_file') ?? 0)),
        rss: stat.get('total_rss'),
        ...throttling(pairsIn(fileOf(path, 'cpu', 'cpu.stat')), 'throttled_time', 1),
      };
    },
    process: (path) => firstProcess(fileOf(path, 'memory', PROCESSES)),
    oomKills: (path) => pairsIn(fileOf(path, 'memory', 'memory.oom_control')).get('oom_kill') ?? 0,
    anticipateMoves: () => void anticipateMoves(roots.get('memory')!, 'memory'),
    kill: (path) => killAll(fileOf(path, 'memory', PROCESSES)),
    sumShares(path) {
      const sum = sumOf(fileOf(path, 'cpu', ''), 'cpu.shares');
      if (roots.has('cpu')) writeLimit(fileOf(path, 'cpu', 'cpu.shares'), String(Math.max(MIN_SHARES, sum)));
    },
    remove: (path) => hierarchies.map((root) => removeTree(join(root, path))).every(Boolean),
  };
}

function version2(root: string): Cgroups {
  const folderOf = (path: string) => join(root, path);
  const update = (path: string, resources: ContainerResources) => {
    for (const [controller, file, value] of limitsOf(resources, 2)) {
      // Every pod has this limit by default, and pods run also where the kernel or a parent cgroup does not offer it.
      if (controller === 'pids' && !existsSync(join(folderOf(path), file))) continue;
      writeLimit(join(folderOf(path), file), value);
    }
  };
  return {
    version: 2,
    mounts: 'unified',
    create(path, resources) {
      // A cgroup has the controllers that its parent hands down.
      let folder = root;
      for (const part of path.split('/').filter((name) => name !== '')) {
        handDown(folder);
        folder = join(folder, part);
        makeDirectoriesSync(folder);
      }
      if (resources) update(path, resources);
      return [join(folder, PROCESSES)];
    },
    update,
    usage(path) {
      const folder = folderOf(path);
      const used = numberIn(join(folder, 'memory.current'));
      const stat = pairsIn(join(folder, 'memory.stat'));
      const cpu = pairsIn(join(folder, 'cpu.stat'));
      if (used === undefined) return undefined;
      return {
        cpuNanoseconds: (cpu.get('usage_usec') ?? 0) * NANOSECONDS_PER_MICROSECOND,
        workingSet: Math.max(0, used - (stat.get('inactive_file') ?? 0)),
        rss: stat.get('anon'),
        ...throttling(cpu, 'throttled_usec', NANOSECONDS_PER_MICROSECOND),
      };
    },
    process: (path) => firstProcess(join(folderOf(path), PROCESSES)),
    oomKills: (path) => pairsIn(join(folderOf(path), 'memory.events')).get('oom_kill') ?? 0,
    anticipateMoves: () => void anticipateMoves(root, ''),
    kill(path) {
      const file = join(folderOf(path), 'cgroup.kill');
      if (existsSync(file)) writeFileSync(file, '1');
      else killAll(join(folderOf(path), PROCESSES));
    },
    sumShares(path) {
      const sum = sumOf(folderOf(path), 'cpu.weight');
      writeLimit(join(folderOf(path), 'cpu.weight'), String(Math.min(MAX_WEIGHT, Math.max(1, sum))));
    },
    remove: (path) => removeTree(folderOf(path)),
  };
}

/** The kernel counts periods only where there is a limit. */
function throttling(
  stat: ReadonlyMap<string, number>,
  timeField: string,
  nanoseconds: number,
): Pick<CgroupUsage, 'throttling'> {
  const periods = stat.get('nr_periods') ?? 0;
  if (periods === 0) return {};
  return {
    throttling: {
      periods,
      throttledPeriods: stat.get('nr_throttled') ?? 0,
      throttledNanoseconds: (stat.get(timeField) ?? 0) * nanoseconds,
    },
  };
}

function firstProcess(file: string): number | undefined {
  return Number(readText(file)?.split('\n')[0]) || undefined;
}

function handDown(folder: string): void {
  const file = join(folder, 'cgroup.subtree_control');
  const offered = readText(join(folder, 'cgroup.controllers'))?.trim().split(' ') ?? [];
  const given = readText(file)?.trim().split(' ') ?? [];
  for (const name of CONTROLLERS) {
    if (!offered.includes(name) || given.includes(name)) continue;
    try {
      writeFileSync(file, `+${name}`);
    } catch {
      // It stays without this controller; writing a limit that needs it fails with a clear error.
    }
  }
}

function writeLimit(file: string, value: string): void {
  try {
    writeFileSync(file, value);
  } catch (error) {
    throw new RuntimeError('Unknown', `cannot set ${file} to ${value}: ${(error as Error).message}`, { cause: error });
  }
}

/** Adds up a number that each cgroup in a folder has. */
function sumOf(folder: string, file: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) sum += numberIn(join(folder, entry.name, file)) ?? 0;
  return sum;
}

function killAll(processes: string): void {
  for (const pid of readText(processes)?.split('\n') ?? []) {
    if (pid === '' || pid === '0') continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

function removeTree(folder: string): boolean {
  if (!existsSync(folder)) return true;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(folder, entry.name));
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function numberIn(file: string): number | undefined {
  const text = readText(file);
  return text === undefined ? undefined : Number(text.trim());
}

function pairsIn(file: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (const line of readText(file)?.split('\n') ?? []) {
    const [name, value] = line.split(' ');
    if (name && value) pairs.set(name, Number(value));
  }
  return pairs;
}
