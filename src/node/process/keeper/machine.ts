/** What this machine allows: the programs that are installed, and whether namespaces can be made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CLONE, framedPlan, type Step } from '../launcher/plan.ts';

const PROGRAM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];
const ARCHITECTURES = ['x64', 'arm64'];

export interface Machine {
  readonly isRoot: boolean;
  /** The interpreter of the launcher. */
  readonly perl: string | undefined;
  readonly ip: string | undefined;
  readonly nft: string | undefined;
  readonly nsenter: string | undefined;
  readonly isolation: Isolation;
  /** What is missing for more. */
  readonly why: string | undefined;
}

/**
 * `root`: containers have namespaces and a root of their own, and pods a network. `user`: the same without the network, in user
 * namespaces. `none`: they are plain processes of the node.
 */
export type Isolation = 'root' | 'user' | 'none';

/** The command that starts the launcher. */
export function launcherCommand(perl: string, program: string, mode: string): [string, string[]] {
  return [perl, [program, mode, process.arch]];
}

/** Finds out what is there, and tries whether namespaces can be made. */
export async function inspectMachine(launcher: string, folders: readonly string[] = PROGRAM_FOLDERS): Promise<Machine> {
  const find = (program: string) => findIn(folders, program);
  const perl = process.platform === 'linux' && ARCHITECTURES.includes(process.arch) ? find('perl') : undefined;
  const isRoot = process.getuid?.() === 0;
  return {
    isRoot,
    perl,
    ip: find('ip'),
    nft: find('nft'),
    nsenter: find('nsenter'),
    ...(await isolationOf(isRoot, perl, launcher)),
  };
}

async function isolationOf(
  isRoot: boolean,
  perl: string | undefined,
  launcher: string,
): Promise<Pick<Machine, 'isolation' | 'why'>> {
  if (process.platform !== 'linux') return { isolation: 'none', why: 'this system is not Linux' };
  if (perl === undefined) return { isolation: 'none', why: 'perl is not installed' };
  const flags = CLONE.NEWNS | CLONE.NEWPID | CLONE.NEWIPC | CLONE.NEWUTS;
  const steps: readonly Step[] = isRoot
    ? [['unshare', flags | CLONE.NEWNET]]
    : [
        ['user-namespace', 0, process.getuid!(), 0, process.getgid!()],
        ['unshare', flags],
      ];
  const failure = await tryNamespaces(perl, launcher, steps);
  if (failure !== undefined) return { isolation: 'none', why: `namespaces cannot be made (${failure})` };
  return isRoot
    ? { isolation: 'root', why: undefined }
    : { isolation: 'user', why: 'the node agent does not run as root' };
}

/** Returns why a program cannot be run after these steps. */
async function tryNamespaces(perl: string, launcher: string, steps: readonly Step[]): Promise<string | undefined> {
  const [command, args] = launcherCommand(perl, launcher, 'exec');
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], env: {} });
  const control = child.stdio[3] as Duplex;
  let answer = '';
  control.on('error', () => undefined);
  control.on('data', (chunk) => {
    answer += String(chunk);
  });
  control.write(framedPlan([...steps, ['fork'], ['exec', perl, '-e', '1']]));
  const [code] = await once(child, 'close');
  return code === 0 ? undefined : answer.replace(/^failed /, '').trim();
}

function findIn(folders: readonly string[], program: string): string | undefined {
  return folders
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
