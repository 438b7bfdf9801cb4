/** The steps that start a container: its namespaces, root, mounts, limits, user and command. Performs nothing. */
import type { ContainerConfig, Mount } from '../../runtime/container-config.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { CLONE, MOUNT_ATTRIBUTE_READONLY, MS, type Step } from '../launcher/plan.ts';
import { droppedCapabilities } from './capabilities.ts';
import type { ProcessIdentity } from './identity.ts';
import { deniedSyscalls } from './seccomp.ts';

/** Everything that the plan depends on, already looked up. */
export interface ContainerPlanInput {
  readonly config: ContainerConfig;
  readonly sandbox: SandboxConfig;
  readonly identity: ProcessIdentity;
  readonly root: ContainerRootFiles;
  /** The process that holds the namespaces of the sandbox, and the first one of its process namespace. */
  readonly holder: { readonly pid: number; readonly init: number } | undefined;
  /** The process whose process namespace is joined, for a container that is to see another one's processes. */
  readonly processTarget: number | undefined;
  /** Files that a process writes itself into to enter its cgroups. */
  readonly cgroups: readonly string[];
  /** How the container sees its cgroups: mounts by controller for version 1, one for version 2. */
  readonly cgroupMounts: readonly string[] | 'unified';
  /** Files of the sandbox that appear in `/etc`, and its shared memory. */
  readonly files: SandboxFiles;
  /** Directories of images that are mounted, by id of the image. */
  readonly imageDirectories: ReadonlyMap<string, string>;
  readonly architecture: string;
}

export interface ContainerRootFiles {
  /** An empty directory, onto which the root is mounted. */
  readonly target: string;
  /** The files of the image, or `/` for those of the node. */
  readonly lower: string;
  /** Where changed files are kept; undefined: in memory. */
  readonly layer: string | undefined;
}

export interface SandboxFiles {
  readonly resolvConf: string;
  readonly hostname: string;
  readonly hosts: string;
  readonly sharedMemory: string;
}

export function containerPlan(input: ContainerPlanInput): Step[] {
  const { config, identity } = input;
  return [
    ...processNamespace(input),
    ['fork'],
    ...input.cgroups.map((file): Step => ['write', file, '0']),
    ...(config.resources.oomScoreAdj === undefined
      ? []
      : [['try-write', '/proc/self/oom_score_adj', String(config.resources.oomScoreAdj)] satisfies Step]),
    ...sharedNamespaces(input),
    ['unshare', CLONE.NEWNS | (input.cgroups.length > 0 ? CLONE.NEWCGROUP : 0)],
    ['mount', 'none', '/', 'none', MS.REC | MS.SLAVE, ''],
    ['overlay', input.root.target, input.root.lower, input.root.layer ?? ''],
    ['pivot', input.root.target],
    ...kernelMounts(input),
    ...etcMounts(input),
    ...volumeMounts(input),
    ...config.devices.map((device): Step => ['bind', relative(device.hostPath), device.containerPath, 0, 0]),
    ['detach'],
    ...config.security.maskedPaths.map((path): Step => ['mask', path]),
    ...config.security.readOnlyPaths.map((path): Step => ['readonly', path]),
    ['directory', identity.workingDirectory],
    ...(config.security.readOnlyRoot ? [remountReadOnly('/')] : []),
    ...(config.tty ? [['terminal'] satisfies Step] : []),
    ...processSteps(input.config, identity, input.architecture),
    ['exec', ...identity.command],
  ];
}

/** The steps of exec in a container that runs. */
export function execPlan(
  input: Pick<ContainerPlanInput, 'config' | 'identity' | 'cgroups' | 'architecture'> & {
    readonly pid: number;
    readonly tty: boolean;
    readonly command: readonly string[];
  },
): Step[] {
  return [
    ...input.cgroups.map((file): Step => ['write', file, '0']),
    ['namespaces', ...['cgroup', 'ipc', 'uts', 'net', 'pid', 'mnt'].map((name) => `/proc/${input.pid}/ns/${name}`)],
    ['fork'],
    ...(input.tty ? [['terminal'] satisfies Step] : []),
    ...processSteps(input.config, input.identity, input.architecture),
    ['exec', ...input.command],
  ];
}

/** What a process becomes right before its command: environment, directory, user, capabilities. */
function processSteps(config: ContainerConfig, identity: ProcessIdentity, architecture: string): Step[] {
  const { security } = config;
  const dropped = droppedCapabilities(security);
  const isFiltered = !security.privileged && security.seccomp?.type === 'runtime-default';
  return [
    ['env', ...identity.env],
    ...(dropped.length > 0 ? [['bounding', ...dropped] satisfies Step] : []),
    ['groups', ...identity.groups],
    ['gid', identity.gid],
    // A filter may be set before the user changes, by root; the calls after it are none that it forbids.
    ...(isFiltered ? [['seccomp', deniedSyscalls(architecture)] satisfies Step] : []),
    ['uid', identity.uid],
    ['dies-with-parent'],
    ['working-directory', identity.workingDirectory],
    ...(security.noNewPrivileges ? [['no-new-privileges'] satisfies Step] : []),
  ];
}

function processNamespace({ config, holder, processTarget }: ContainerPlanInput): Step[] {
  if (processTarget !== undefined) return [['namespaces', `/proc/${processTarget}/ns/pid`]];
  switch (config.security.pid) {
    case 'container':
      return [['unshare', CLONE.NEWPID]];
    case 'pod':
      return holder ? [['namespaces', `/proc/${holder.init}/ns/pid`]] : [['unshare', CLONE.NEWPID]];
    default:
      return [];
  }
}

function sharedNamespaces({ sandbox, holder }: ContainerPlanInput): Step[] {
  if (!holder) return [];
  const shared = [
    ...(sandbox.namespaces.network === 'pod' ? ['net', 'uts'] : []),
    ...(sandbox.namespaces.ipc === 'pod' ? ['ipc'] : []),
  ];
  return shared.length > 0 ? [['namespaces', ...shared.map((name) => `/proc/${holder.pid}/ns/${name}`)]] : [];
}

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

function kernelMounts({ config, sandbox, files, cgroupMounts, cgroups }: ContainerPlanInput): Step[] {
  const { privileged } = config.security;
  const strict = MS.NOSUID | MS.NOEXEC | MS.NODEV;
  const readOnly = privileged ? 0 : MS.RDONLY;
  return [
    ['directory', '/proc'],
    ['mount', 'proc', '/proc', 'proc', strict, ''],
    ['directory', '/dev'],
    ['mount', 'tmpfs', '/dev', 'tmpfs', MS.NOSUID, 'mode=755,size=65536k'],
    ...(privileged ? [] : DEVICES.map((name): Step => ['bind', `dev/${name}`, `/dev/${name}`, 0, 0])),
    ...(privileged ? [['bind', 'dev', '/dev', MS.REC, 0] satisfies Step] : []),
    ['directory', '/dev/pts'],
    ['mount', 'devpts', '/dev/pts', 'devpts', MS.NOSUID | MS.NOEXEC, 'newinstance,ptmxmode=0666,mode=0620'],
    ...(privileged
      ? []
      : (
          [
            ['ptmx', 'pts/ptmx'],
            ['fd', '/proc/self/fd'],
            ['stdin', '/proc/self/fd/0'],
            ['stdout', '/proc/self/fd/1'],
            ['stderr', '/proc/self/fd/2'],
          ] as const
        ).map(([name, target]): Step => ['link', `/dev/${name}`, target])),
    ...(sandbox.namespaces.ipc === 'node' && privileged
      ? []
      : [['bind', relative(files.sharedMemory), '/dev/shm', 0, 0] satisfies Step]),
    ['directory', '/sys'],
    ['mount', 'sysfs', '/sys', 'sysfs', strict | readOnly, ''],
    ...(cgroups.length === 0 ? [] : cgroupSteps(cgroupMounts, strict | readOnly)),
  ];
}

function cgroupSteps(mounts: readonly string[] | 'unified', flags: number): Step[] {
  if (mounts === 'unified') return [['mount', 'cgroup', '/sys/fs/cgroup', 'cgroup2', flags, '']];
  return [
    ['mount', 'tmpfs', '/sys/fs/cgroup', 'tmpfs', MS.NOSUID | MS.NOEXEC | MS.NODEV, 'mode=755'],
    ...mounts.flatMap((name): Step[] => [
      ['directory', `/sys/fs/cgroup/${name}`],
      ['mount', 'cgroup', `/sys/fs/cgroup/${name}`, 'cgroup', flags, name],
    ]),
    remountReadOnly('/sys/fs/cgroup'),
  ];
}

function etcMounts({ config, sandbox, files }: ContainerPlanInput): Step[] {
  const isMounted = (path: string) => config.mounts.some(({ containerPath }) => containerPath === path);
  const all: readonly (readonly [string, string])[] = [
    [files.resolvConf, '/etc/resolv.conf'],
    [files.hostname, '/etc/hostname'],
    ...(sandbox.namespaces.network === 'pod' ? [[files.hosts, '/etc/hosts'] as const] : []),
  ];
  return all
    .filter(([, path]) => !isMounted(path))
    .map(([file, path]): Step => ['bind', relative(file), path, 0, config.security.readOnlyRoot ? MS.RDONLY : 0]);
}

function volumeMounts({ config, imageDirectories }: ContainerPlanInput): Step[] {
  return [...config.mounts]
    .sort((a, b) => depthOf(a) - depthOf(b))
    .flatMap((mount): Step[] => {
      const source = mount.image ? imageSource(mount.image, imageDirectories) : mount.hostPath;
      const readOnly = mount.readOnly || mount.image !== undefined;
      const attributes = readOnly ? MS.RDONLY : 0;
      const propagation = mount.propagation === 'private' ? MS.PRIVATE : MS.SLAVE;
      return [
        ['bind', relative(source), mount.containerPath, MS.REC, attributes],
        ['mount', 'none', mount.containerPath, 'none', MS.REC | propagation, ''],
        ...(mount.recursiveReadOnly
          ? [['attributes', mount.containerPath, MOUNT_ATTRIBUTE_READONLY] satisfies Step]
          : []),
      ];
    });
}

function imageSource(
  { id, subPath }: { id: string; subPath: string },
  directories: ReadonlyMap<string, string>,
): string {
  const directory = directories.get(id)!;
  return subPath === '' ? directory : `${directory}/${subPath}`;
}

function remountReadOnly(path: string): Step {
  return ['mount', 'none', path, 'none', REMOUNT_BIND | MS.RDONLY, ''];
}

const REMOUNT_BIND = 32 | 4096;

function depthOf(mount: Mount): number {
  return mount.containerPath.split('/').filter((part) => part !== '').length;
}

/** Sources are relative to the old root, which is the working directory while mounts are made. */
function relative(path: string): string {
  return path === '/' ? '.' : path.replace(/^\/+/, '');
}
