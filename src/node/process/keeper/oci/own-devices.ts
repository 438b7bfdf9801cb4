/**
 * The /dev of containers. Each has a copy of one directory, mounted where every supervisor, in its mount namespace, has its own: an OCI
 * runtime that made the files itself would do so by paths of the container, which an image or a volume may have led elsewhere.
 */
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import { RuntimeError } from '../../../runtime/errors.ts';

/** Major and minor numbers. */
const DEVICES: Readonly<Record<string, readonly [number, number]>> = {
  null: [1, 3],
  zero: [1, 5],
  full: [1, 7],
  random: [1, 8],
  urandom: [1, 9],
  tty: [5, 0],
};
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const LINKS: Readonly<Record<string, string>> = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
  ptmx: 'pts/ptmx',
};

export interface OwnDevices {
  /** Path that is copied. */
  readonly source: string;
  /** Where a supervisor mounts its copy. */
  readonly target: string;
}

/** Makes the directories below one that every user can pass through. Rejects with a RuntimeError. */
export async function openOwnDevices(runDirectory: string): Promise<OwnDevices> {
  const source = join(runDirectory, 'devices');
  const target = join(runDirectory, 'dev');
  makeDirectoriesSync(runDirectory, 0o711);
  makeDirectoriesSync(target, 0o755);
  if (Object.keys({ ...DEVICES, ...LINKS }).every((name) => existsSync(join(source, name)))) return { source, target };
  rmSync(source, { recursive: true, force: true });
  mkdirSync(source, { mode: 0o755 });
  for (const [name, [major, minor]] of Object.entries(DEVICES)) {
    await runProgram(['mknod', '-m', '666', join(source, name), 'c', String(major), String(minor)], { path: PATH });
    if (!statSync(join(source, name)).isCharacterDevice())
      throw new RuntimeError('Unknown', `/dev/${name} cannot be made`);
  }
  for (const [name, to] of Object.entries(LINKS)) symlinkSync(to, join(source, name));
  return { source, target };
}
