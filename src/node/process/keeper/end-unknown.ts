/**
 * Ends pods that run under the name of the keeper without a record in its directory, which was removed with the records and made
 * again. Their addresses would be given to other pods.
 */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../../../base/programs/run-program.ts';
import { argumentsOf, killIfRunning, runningPids } from '../../../base/programs/running-processes.ts';
import { sleep } from '../../../base/time/clock.ts';
import type { Cgroups } from '../../cgroups/cgroups.ts';
import type { KeeperContext } from './context.ts';
import type { Engine } from './engine.ts';
import { readPid } from './supervisor/pid-file.ts';

const END_TIMEOUT_MS = 5_000;
const CHECK_MS = 20;

export async function endUnknown(context: KeeperContext, { sandboxes, containers }: Engine): Promise<void> {
  const { name, cgroups, executor, network } = context;
  if (await hasNamesake(name)) return;
  if (cgroups) {
    const known = new Set([...sandboxes.values()].map(({ record }) => record.cgroup));
    const root = `/quarterdeck-${name}`;
    const unknown = cgroups.children(root).map((child) => `${root}/${child}`);
    await Promise.all(unknown.filter((path) => !known.has(path)).map((path) => end(context, cgroups, path)));
  }
  await removeFiles(context, [...sandboxes.keys()]);
  await executor.removeUnknown(new Set([...sandboxes.keys(), ...containers.keys()]));
  await network?.removeUnknown([...sandboxes.keys()]);
}

/** A keeper with another view of the files has the same name for another directory of the same path. */
async function hasNamesake(name: string): Promise<boolean> {
  const others = (await runningPids()).filter((pid) => pid !== process.pid);
  const commands = await Promise.all(others.map(argumentsOf));
  return commands.some((args) => args.length > 3 && args.at(-3) === name && args.at(-1)?.startsWith('/') === true);
}

/** A sandbox has its memory mounted, which outlives the removal of everything around it. */
async function removeFiles({ directory, machine }: KeeperContext, known: readonly string[]): Promise<void> {
  const folder = join(directory, 'sandboxes');
  const unknown = existsSync(folder) ? readdirSync(folder).filter((id) => !known.includes(id)) : [];
  for (const path of unknown.map((id) => join(folder, id))) {
    const { umount } = machine.programs;
    if (umount !== undefined) await runProgram([umount, '--lazy', join(path, 'shm')]).catch(() => undefined);
    rmSync(path, { recursive: true, force: true });
  }
}

/** Processes that were killed are gone a moment later. */
async function end({ clock }: KeeperContext, cgroups: Cgroups, path: string): Promise<void> {
  for (const deadline = clock.now() + END_TIMEOUT_MS; clock.now() < deadline; await sleep(clock, CHECK_MS)) {
    for (const pid of processesBelow(cgroups, path)) killIfRunning(pid);
    if (cgroups.remove(path)) return;
  }
}

function processesBelow(cgroups: Cgroups, path: string): readonly number[] {
  const below = cgroups.children(path).flatMap((child) => processesBelow(cgroups, `${path}/${child}`));
  return [...cgroups.processes(path), ...below];
}

/** Ends those whose directories are in `streams`. `cgroup` is that of all pods: an id may be another process by now. */
export function endLeftCommands(streams: string, cgroup: string): void {
  for (const name of readdirSync(streams)) {
    const directory = join(streams, name);
    const pid = readPid(directory);
    if (pid !== undefined && cgroupsOf(pid).includes(`${cgroup}/`)) killGroup(pid);
    rmSync(directory, { recursive: true, force: true });
  }
}

function cgroupsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
