/** Properties of this machine that the configuration of containerd depends on. */
import { execFile } from 'node:child_process';
import { access, constants, readFile, statfs } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { RuntimeError } from '../../runtime/errors.ts';

export interface Machine {
  /** Version, for example `1.6.20`. */
  readonly containerdVersion: string;
  readonly containerd: string;
  readonly usesSystemdCgroups: boolean;
  readonly mayLowerOomScore: boolean;
  readonly snapshotter: 'overlayfs' | 'native';
  /** The folder of the CNI plugins; undefined: they are not installed. */
  readonly cniPlugins: string | undefined;
  /** The specification that containerd begins with, as JSON; undefined: `ctr` is not installed. */
  readonly defaultSpec: string | undefined;
}

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const CNI_FOLDERS = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'];
const CAP_SYS_RESOURCE = 24n;
const OVERLAY_MAGIC = 0x794c7630;

/** `root` is the folder where containerd will keep images. Rejects with a RuntimeError of code `Unsupported`. */
export async function probeMachine({ path, root }: { path: string; root: string }): Promise<Machine> {
  const containerd = await findProgram('containerd', path);
  if (!containerd) throw new RuntimeError('Unsupported', 'containerd is not installed');
  if (!(await findProgram('runc', path)) && !(await findProgram('crun', path))) {
    throw new RuntimeError('Unsupported', 'containerd is installed, but runc is not');
  }
  return {
    containerd,
    containerdVersion: versionOf((await promisify(execFile)(containerd, ['--version'])).stdout),
    usesSystemdCgroups: (await exists('/run/systemd/system')) && (await exists('/sys/fs/cgroup/cgroup.controllers')),
    mayLowerOomScore: hasCapability(await readFile('/proc/self/status', 'utf8'), CAP_SYS_RESOURCE),
    // An overlay cannot have its upper folder on another overlay, as inside a container.
    snapshotter: (await statfs(root)).type === OVERLAY_MAGIC ? 'native' : 'overlayfs',
    cniPlugins: await findCni(),
    defaultSpec: await defaultSpec(path),
  };
}

async function defaultSpec(path: string): Promise<string | undefined> {
  const ctr = await findProgram('ctr', path);
  return ctr && (await promisify(execFile)(ctr, ['oci', 'spec'])).stdout;
}

/** `containerd github.com/containerd/containerd 1.6.20~ds1 …` or `… v2.0.1 …`. */
export function versionOf(text: string): string {
  return /\sv?(\d+\.\d+(?:\.\d+)?)/.exec(text)?.[1] ?? '0.0.0';
}

export function hasCapability(status: string, capability: bigint): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> capability) & 1n) === 1n;
}

/** A PATH on which the programs of the system are, which the path of a user often lacks. */
export function systemPath(path: string): string {
  return [...new Set([...path.split(delimiter), ...SYSTEM_FOLDERS])].filter(Boolean).join(delimiter);
}

export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of systemPath(path).split(delimiter)) {
    const file = join(folder, name);
    if (await exists(file, constants.X_OK)) return file;
  }
  return undefined;
}

/** The folder of the CNI plugins. */
export async function findCni(): Promise<string | undefined> {
  for (const folder of CNI_FOLDERS) if (await exists(join(folder, 'bridge'), constants.X_OK)) return folder;
  return undefined;
}

export async function exists(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
