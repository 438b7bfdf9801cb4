/** Facts about this machine: the user of the keeper, installed programs, and available executors. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../../../base/programs/is-executable.ts';
import { capabilitiesIn } from '../oci/capabilities.ts';
import type { OciMachine } from '../oci/input.ts';

const PROGRAM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/sbin', '/usr/local/bin'];
/** In the order of preference. */
const OCI_RUNTIMES = ['runc', 'crun'];
const SYS_RESOURCE = 'SYS_RESOURCE';

export interface Machine {
  readonly isRoot: boolean;
  readonly programs: Programs;
  /** OCI runtimes that are installed; whether one works is found out by trying. */
  readonly ociRuntimes: readonly string[];
  readonly oci: OciMachine;
  readonly hasSelinux: boolean;
  /** True when this process has any capability, or may pass one to programs. */
  readonly hasCapabilities: boolean;
}

/** Paths of programs; undefined: not installed. */
export interface Programs {
  readonly ip: string | undefined;
  readonly nft: string | undefined;
  readonly unshare: string | undefined;
  readonly mount: string | undefined;
  readonly umount: string | undefined;
  readonly nsenter: string | undefined;
  readonly hostname: string | undefined;
  readonly setpriv: string | undefined;
  /** Gives a program a terminal. */
  readonly script: string | undefined;
  /** Changes the size of a terminal. */
  readonly stty: string | undefined;
}

export function inspectMachine(folders: readonly string[] = PROGRAM_FOLDERS): Machine {
  const find = (program: string) => findIn(folders, program);
  return {
    isRoot: process.platform === 'linux' && process.getuid?.() === 0,
    programs: {
      ip: find('ip'),
      nft: find('nft'),
      unshare: find('unshare'),
      mount: find('mount'),
      umount: find('umount'),
      nsenter: find('nsenter'),
      hostname: find('hostname'),
      setpriv: find('setpriv'),
      script: find('script'),
      stty: find('stty'),
    },
    ociRuntimes: OCI_RUNTIMES.flatMap((name) => find(name) ?? []),
    oci: inspectRights(),
    hasSelinux: existsSync('/sys/fs/selinux/enforce'),
    hasCapabilities: /^Cap(Inh|Prm|Eff|Amb):\s*0*[1-9a-f]/m.test(readOr('/proc/self/status', '')),
  };
}

function inspectRights(): OciMachine {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readOr('/proc/self/status', ''))?.[1] ?? '0';
  const capabilities = capabilitiesIn(BigInt(`0x${bounding}`));
  const own = Number(readOr('/proc/self/oom_score_adj', '0'));
  return {
    architecture: process.arch,
    capabilities,
    minOomScoreAdj: capabilities.has(SYS_RESOURCE) ? undefined : own,
  };
}

function findIn(folders: readonly string[], program: string): string | undefined {
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}
