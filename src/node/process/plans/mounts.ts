/** The mounts of a container: those of the kernel, files in `/etc`, and volumes. */
import type { Mount } from '../../runtime/container-config.ts';
import { mountedKey } from '../images-with-host.ts';
import { MS, type Step } from '../launcher/plan.ts';
import type { ContainerPlanInput } from './input.ts';

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** `/proc`, `/dev` and `/sys`. */
export function kernelMounts(input: ContainerPlanInput): Step[] {
  const { config, cgroupMounts, cgroups } = input;
  const { privileged } = config.security;
  const strict = MS.NOSUID | MS.NOEXEC | MS.NODEV;
  const readOnly = privileged ? 0 : MS.RDONLY;
  return [
    ['directory', '/proc'],
    ['mount', 'proc', '/proc', 'proc', strict, ''],
    ...deviceMounts(input),
    ['directory', '/sys'],
    ['mount', 'sysfs', '/sys', 'sysfs', strict | readOnly, ''],
    ...(cgroups.length === 0 ? [] : cgroupSteps(cgroupMounts, strict | readOnly)),
  ];
}

export function deviceMounts({ config, sandbox, files }: ContainerPlanInput): Step[] {
  const { privileged } = config.security;
  return [
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
    ...config.devices.map((device): Step => ['bind', relative(device.hostPath), device.containerPath, 0, 0]),
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

export function etcMounts({ config, sandbox, files }: ContainerPlanInput): Step[] {
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

/**
 * In a user namespace, flags of a mount of the node cannot be changed with a remount, only added to the whole tree.
 */
export function volumeMounts({ config, imageDirectories }: ContainerPlanInput, isUserNamespace = false): Step[] {
  return [...config.mounts]
    .sort((a, b) => depthOf(a) - depthOf(b))
    .flatMap((mount): Step[] => {
      const source = mount.image ? imageDirectories.get(mountedKey(mount.image))! : mount.hostPath;
      const readOnly = mount.readOnly || mount.image !== undefined;
      const attributes = readOnly && !isUserNamespace ? MS.RDONLY : 0;
      const isTree = mount.recursiveReadOnly || (readOnly && isUserNamespace);
      const propagation = mount.propagation === 'private' ? MS.PRIVATE : MS.SLAVE;
      return [
        ['bind', relative(source), mount.containerPath, MS.REC, attributes],
        ['mount', 'none', mount.containerPath, 'none', MS.REC | propagation, ''],
        ...(isTree ? [['read-only-tree', mount.containerPath] satisfies Step] : []),
      ];
    });
}

export function remountReadOnly(path: string): Step {
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
