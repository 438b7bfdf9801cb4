/**
 * The release of etcd that a member ran with last. A program that is newer by more than one minor release cannot go on with its data,
 * and says so to its authors. Whether one that is older can, depends on the other members: etcd itself decides.
 */
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { MemberPaths } from './paths.ts';
import type { EtcdProgram, EtcdRelease } from './program.ts';

/** Rejects a program that is too new for the data of the member. Nothing has been changed then. */
export async function checkMemberRelease({ release: file }: MemberPaths, program: EtcdProgram): Promise<void> {
  const last = parsed((await readIfThere(file)) ?? '');
  if (!last) return;
  const { release, path } = program;
  if (release.major < last.major || (release.major === last.major && release.minor <= last.minor + 1)) return;
  const next = { major: last.major, minor: last.minor + 1 };
  throw new AssemblyError(
    `the etcd of this server ran with ${text(last)} last, and ${path} is ${text(release)}: etcd goes one minor release at a time, ` +
      `on all servers before the next; install etcd ${text(next)}`,
  );
}

/** The member serves with this release. */
export async function keepMemberRelease({ release: file }: MemberPaths, release: EtcdRelease): Promise<void> {
  const content = `${text(release)}\n`;
  if ((await readIfThere(file)) !== content) await writeWhole(file, content);
}

const text = ({ major, minor }: EtcdRelease) => `${major}.${minor}`;

function parsed(content: string): EtcdRelease | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\n$/.exec(content) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}
