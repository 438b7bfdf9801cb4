/** The cgroups of sandboxes and containers, in both versions of Linux' cgroups. */

import { accessSync, constants, existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../base/files/own/make-directories.ts';
import type { ContainerResources } from '../runtime/container-config.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { ContainerUsage } from '../runtime/runtime.ts';
import { anticipateMoves } from './anticipate-moves.ts';
import { delegatedRoots, type MountedHierarchy } from './delegated-roots.ts';
import { limitsOf } from './limits.ts';

const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids', 'hugetlb', 'cpuset'];
/** A version 1 cpuset needs its processors written before anything can enter, which nothing here limits. */
const CONTROLLERS_OF_VERSION_1 = CONTROLLERS.filter((name) => name !== 'cpuset');
const PROCESSES = 'cgroup.procs';
const MIN_SHARES = 2;
const MAX_WEIGHT = 10_000;
const NANOSECONDS_PER_MICROSECOND = 1_000;

export type CgroupUsage = Pick<ContainerUsage, 'cpuNanoseconds' | 'workingSet' | 'rss' | 'throttling'>;

export interface Cgroups {
  readonly version: 1 | 2;
  /** How containers mount them: by controller, or as one. */
  readonly mounts: readonly string[] | 'unified';
  /** The controllers that there are: `cpu`, `memory`, `pids`… Limits of others are not set. */
  readonly controllers: ReadonlySet<string>;
  /** Makes the cgroup of this path, such as `/name/pod/container`, and returns the files that processes enter it by. */
  create(path: string, resources: ContainerResources | undefined): string[];
  /** The files that processes enter it by. */
  entries(path: string): string[];
  update(path: string, resources: ContainerResources): void;
  usage(path: string): CgroupUsage | undefined;
  /** The names of the cgroups in it. */
  children(path: string): readonly string[];
  /** The processes in it that this process can see. */
  processes(path: string): readonly number[];
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
  const mounted = mountedHierarchies(mountTable).filter(({ path }) => isWritable(path));
  const byController = controllersIn(mounted.map((each) => [each, each.path]));
  const hierarchies = mounted.map(({ path }) => path);
  if (byController.has('memory')) return version1(byController, hierarchies);
  const unified = mounted.find(({ version }) => version === 2)?.path;
  const offered = unified === undefined ? [] : controllersOf(unified);
  return unified !== undefined && offered.includes('memory') ? version2(unified, new Set(offered)) : undefined;
}

/**
 * Opens the cgroups that a user who is not root may make, because a cgroup was delegated to them. Undefined if there are
 * none with limits of memory. `membership` is the file that names the cgroups of this process.
 */
export function openDelegatedCgroups(
  mountTable = '/proc/self/mounts',
  membership = '/proc/self/cgroup',
): Cgroups | undefined {
  const own = readText(membership) ?? '';
  const mounted = mountedHierarchies(mountTable).map((each) => [each, delegatedRoots(each, own)] as const);
  const byController = controllersIn(mounted.flatMap(([each, [root]]) => (root === undefined ? [] : [[each, root]])));
  const anticipateMoves = () => undefined;
  if (byController.has('memory'))
    return { ...version1(byController, [...new Set(byController.values())]), anticipateMoves };
  for (const root of mounted.flatMap(([{ version }, roots]) => (version === 2 ? roots : []))) {
    // One with processes of its own hands nothing down: one below it may.
    const given = handDown(root);
    if (given.has('memory')) return { ...version2(root, given), anticipateMoves };
  }
  return undefined;
}

function mountedHierarchies(mountTable: string): readonly MountedHierarchy[] {
  const lines = readText(mountTable)?.split('\n') ?? [];
  return lines.flatMap((line): MountedHierarchy[] => {
    const [, path = '', type, options = ''] = line.split(' ');
    if (type === 'cgroup2') return [{ path, version: 2, controllers: [] }];
    if (type !== 'cgroup') return [];
    return [
      { path, version: 1, controllers: options.split(',').filter((name) => CONTROLLERS_OF_VERSION_1.includes(name)) },
    ];
  });
}

/** Maps each controller of version 1 to the folder that it is used in. */
function controllersIn(used: Iterable<readonly [MountedHierarchy, string]>): ReadonlyMap<string, string> {
  const byController = new Map<string, string>();
  for (const [{ controllers }, root] of used) for (const name of controllers) byController.set(name, root);
  return byController;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
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
  const entries = (path: string) => folders(path).map((folder) => join(folder, PROCESSES));
  return {
    version: 1,
    mounts: [...roots.keys()],
    controllers: new Set(roots.keys()),
    entries,
    create(path, resources) {
      for (const folder of folders(path)) makeDirectoriesSync(folder);
      if (resources) update(path, resources);
      return entries(path);
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
    children: (path) => [...new Set(folders(path).flatMap(directoriesIn))],
    processes: (path) => processesIn(fileOf(path, 'memory', PROCESSES)),
    process: (path) => processesIn(fileOf(path, 'memory', PROCESSES))[0],
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

function version2(root: string, controllers: ReadonlySet<string>): Cgroups {
  const folderOf = (path: string) => join(root, path);
  const update = (path: string, resources: ContainerResources) => {
    for (const [controller, file, value] of limitsOf(resources, 2)) {
      if (!controllers.has(controller)) continue;
      // Every pod has this limit by default, and pods run also where a parent cgroup does not offer it.
      if (controller === 'pids' && !existsSync(join(folderOf(path), file))) continue;
      writeLimit(join(folderOf(path), file), value);
    }
  };
  return {
    version: 2,
    mounts: 'unified',
    controllers,
    entries: (path) => [join(folderOf(path), PROCESSES)],
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
    children: (path) => directoriesIn(folderOf(path)),
    processes: (path) => processesIn(join(folderOf(path), PROCESSES)),
    process: (path) => processesIn(join(folderOf(path), PROCESSES))[0],
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

/** Processes of another process namespace are listed as 0. */
function processesIn(file: string): number[] {
  return (readText(file) ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Returns the controllers that the cgroups in a folder have then. */
function handDown(folder: string): ReadonlySet<string> {
  const file = join(folder, 'cgroup.subtree_control');
  const offered = controllersOf(folder);
  const given = new Set(wordsIn(file));
  for (const name of CONTROLLERS) {
    if (!offered.includes(name) || given.has(name)) continue;
    try {
      writeFileSync(file, `+${name}`);
      given.add(name);
    } catch {
      // It stays without this controller; writing a limit that needs it fails with a clear error.
    }
  }
  return given;
}

const controllersOf = (folder: string) => wordsIn(join(folder, 'cgroup.controllers'));

const wordsIn = (file: string) => (readText(file) ?? '').split(/\s+/).filter((word) => word !== '');

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

function directoriesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function killAll(file: string): void {
  for (const pid of processesIn(file)) {
    try {
      process.kill(pid, 'SIGKILL');
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
