/** What this machine allows: the programs that are installed, and whether namespaces can be made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CLONE, framedPlan } from '../launcher/plan.ts';

const SEARCHED = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];
const ARCHITECTURES = ['x64', 'arm64'];

export interface Machine {
  readonly isRoot: boolean;
  /** The interpreter of the launcher. */
  readonly perl: string | undefined;
  readonly ip: string | undefined;
  readonly nft: string | undefined;
  readonly iptables: string | undefined;
  readonly mkfifo: string | undefined;
  /** Whether containers get namespaces and a root of their own. If not, `why` says what is missing. */
  readonly isIsolating: boolean;
  readonly why: string | undefined;
}

/** The command that starts the launcher. */
export function launcherCommand(perl: string, program: string, mode: string): [string, string[]] {
  return [perl, [program, mode, process.arch]];
}

/** Finds out what is there, and tries whether namespaces can be made. */
export async function inspectMachine(launcher: string): Promise<Machine> {
  const perl = process.platform === 'linux' && ARCHITECTURES.includes(process.arch) ? find('perl') : undefined;
  const isRoot = process.getuid?.() === 0;
  const why = await missing(isRoot, perl, launcher);
  return {
    isRoot,
    perl,
    ip: find('ip'),
    nft: find('nft'),
    iptables: find('iptables'),
    mkfifo: find('mkfifo'),
    isIsolating: why === undefined,
    why,
  };
}

async function missing(isRoot: boolean, perl: string | undefined, launcher: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'this system is not Linux';
  if (!isRoot) return 'the node agent does not run as root';
  if (perl === undefined) return 'perl is not installed';
  const flags = CLONE.NEWNS | CLONE.NEWPID | CLONE.NEWIPC | CLONE.NEWUTS | CLONE.NEWNET;
  const [command, args] = launcherCommand(perl, launcher, 'exec');
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], env: {} });
  const control = child.stdio[3] as Duplex;
  let answer = '';
  control.on('data', (chunk) => {
    answer += String(chunk);
  });
  control.write(framedPlan([['unshare', flags], ['fork'], ['exec', '/proc/self/exe', '-e', '1']]));
  const [code] = await once(child, 'close');
  return code === 0 ? undefined : `namespaces cannot be made (${answer.replace(/^failed /, '').trim()})`;
}

function find(program: string): string | undefined {
  return SEARCHED.map((folder) => join(folder, program)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
