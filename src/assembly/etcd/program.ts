/** The program `etcd` of the machine. */
import { runProgram } from '../../base/programs/run-program.ts';
import { findProgram } from '../../node/containerd/own/machine.ts';
import { AssemblyError } from '../assembly-error.ts';

const OLDEST = [3, 4] as const;
const HOW_TO_INSTALL = 'install it, on Debian with: apt-get install etcd-server';

export interface EtcdRelease {
  readonly major: number;
  readonly minor: number;
}

export interface EtcdProgram {
  readonly path: string;
  readonly release: EtcdRelease;
}

/** Resolves with the program. Rejects when there is none that can be used, and says how to get one. */
export async function findEtcd(path: string): Promise<EtcdProgram> {
  const program = await findProgram('etcd', path);
  if (program === undefined) {
    throw new AssemblyError(`there is no program etcd on this machine, which --ha needs; ${HOW_TO_INSTALL}`);
  }
  const said = await runProgram([program, '--version'], { path, env: etcdEnvironment() }).catch((cause: unknown) => {
    throw new AssemblyError(`${program} cannot be used: ${(cause as Error).message}`, { cause });
  });
  const [, major, minor] = /^etcd Version: (\d+)\.(\d+)/m.exec(said) ?? [];
  if (!isNewEnough(Number(major), Number(minor))) {
    const release = major === undefined ? 'of an unknown release' : `${major}.${minor}`;
    throw new AssemblyError(`${program} is ${release}, and --ha needs ${OLDEST.join('.')} or newer; ${HOW_TO_INSTALL}`);
  }
  return { path: program, release: { major: Number(major), minor: Number(minor) } };
}

function isNewEnough(major: number, minor: number): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Where its authors do not test etcd, it starts only when it is told to. */
export function etcdEnvironment(architecture: string = process.arch): Readonly<Record<string, string>> {
  return architecture === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: architecture };
}
