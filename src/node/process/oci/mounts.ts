/** The mounts of a container: those of the kernel, files in `/etc`, and volumes. */
import { posix } from 'node:path';
import type { ContainerConfig, Mount } from '../../runtime/container-config.ts';
import { mountedKey } from '../images-with-host.ts';
import type { ContainerInput } from './input.ts';
import { mountAt } from './mount-flags.ts';
import type { OciMount } from './spec.ts';

const STRICT = ['nosuid', 'noexec', 'nodev'];

/** Reports whether the node and other pods see what the container mounts in one of its volumes. */
export const mountsForNode = ({ mounts }: Pick<ContainerConfig, 'mounts'>): boolean =>
  mounts.some(({ propagation }) => propagation === 'bidirectional');

/** In the order in which they are made. */
export function mountsOf(input: ContainerInput): OciMount[] {
  const mounts = [
    ...kernelMounts(input),
    ...devicesOfPod(input),
    ...ownDirectories(input),
    ...etcMounts(input),
    ...volumeMounts(input),
  ];
  return input.sandbox.namespaces.user ? mounts.map((mount) => withFlagsOfSource(mount, input)) : mounts;
}

function withFlagsOfSource(mount: OciMount, { mountFlags, devDirectory }: ContainerInput): OciMount {
  // That of the devices is made by the supervisor.
  if (mount.type !== 'bind' || mount.source === devDirectory) return mount;
  const flags = mountAt(mountFlags, mount.source)?.flags ?? [];
  const locked = flags.filter((flag) => !mount.options.includes(flag));
  const options = locked.includes('ro') ? mount.options.filter((option) => option !== 'rw') : mount.options;
  return { ...mount, options: [...options, ...locked] };
}

/** `/proc`, `/dev` and `/sys`. */
function kernelMounts({ config, sandbox, files, cgroup, devDirectory }: ContainerInput): OciMount[] {
  const { privileged } = config.security;
  const access = privileged ? 'rw' : 'ro';
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: STRICT },
    privileged
      ? { destination: '/dev', type: 'bind', source: '/dev', options: ['rbind', 'nosuid', 'rslave'] }
      : bind(devDirectory, '/dev', ['rw', 'nosuid']),
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
    },
    ...(sandbox.namespaces.ipc === 'node' && privileged
      ? []
      : [bind(files.sharedMemory, '/dev/shm', ['rw', ...STRICT])]),
    ...(sandbox.namespaces.ipc === 'node'
      ? []
      : [{ destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: STRICT }]),
    // A network namespace of another user namespace cannot be shown by a new mount of sysfs: only host users share one.
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...STRICT, access] },
    ...(cgroup === undefined
      ? []
      : [{ destination: '/sys/fs/cgroup', type: 'cgroup', source: 'cgroup', options: [...STRICT, access] }]),
  ];
}

/** A runtime that is given the /dev of a container makes no devices in it. */
function devicesOfPod({ config }: ContainerInput): OciMount[] {
  if (config.security.privileged) return [];
  return config.devices.map(({ hostPath, containerPath }) =>
    bind(hostPath, posix.normalize(containerPath), ['rw', 'nosuid', 'noexec']),
  );
}

/**
 * The directories that a container with the files of the node has for itself. Root of a user namespace could not write to those of the
 * node's root.
 */
function ownDirectories({ isHostImage, sandbox }: ContainerInput): OciMount[] {
  if (!isHostImage || !sandbox.namespaces.user) return [];
  return [
    tmpfs('/run', ['nosuid', 'nodev', 'mode=755']),
    tmpfs('/root', ['nosuid', 'nodev', 'mode=700']),
    tmpfs('/tmp', ['nosuid', 'nodev', 'mode=1777']),
  ];
}

function etcMounts({ config, sandbox, files }: ContainerInput): OciMount[] {
  const isMounted = (path: string) => config.mounts.some(({ containerPath }) => containerPath === path);
  const all: readonly (readonly [string, string])[] = [
    [files.resolvConf, '/etc/resolv.conf'],
    [files.hostname, '/etc/hostname'],
    ...(sandbox.namespaces.network === 'pod' ? [[files.hosts, '/etc/hosts'] as const] : []),
  ];
  return all
    .filter(([, path]) => !isMounted(path))
    .map(([file, path]) => bind(file, path, [config.security.readOnlyRoot ? 'ro' : 'rw', 'nosuid', 'nodev']));
}

/** Outer ones first, so that none hides another. */
function volumeMounts({ config, imageDirectories }: ContainerInput): OciMount[] {
  return [...config.mounts]
    .sort((a, b) => depthOf(a) - depthOf(b))
    .map((mount) => ({
      destination: mount.containerPath,
      type: 'bind',
      source: mount.image ? imageDirectories.get(mountedKey(mount.image))! : mount.hostPath,
      options: ['rbind', ...accessOf(mount), ...devicesOf(config.security.privileged), PROPAGATIONS[mount.propagation]],
    }));
}

function accessOf({ readOnly, recursiveReadOnly, image }: Mount): string[] {
  if (recursiveReadOnly) return ['ro', 'rro'];
  return [readOnly || image ? 'ro' : 'rw'];
}

/** Device files in a volume are of no use, except to a container that may use every device. */
function devicesOf(privileged: boolean): string[] {
  return privileged ? [] : ['nodev'];
}

const PROPAGATIONS = { private: 'rprivate', 'host-to-container': 'rslave', bidirectional: 'rshared' } as const;

function depthOf(mount: Mount): number {
  return mount.containerPath.split('/').filter((part) => part !== '').length;
}

/** Nothing that is mounted above it leaves the container, or comes in. */
function bind(source: string, destination: string, options: readonly string[]): OciMount {
  return { destination, type: 'bind', source, options: ['bind', ...options, 'rprivate'] };
}

function tmpfs(destination: string, options: readonly string[]): OciMount {
  return { destination, type: 'tmpfs', source: 'tmpfs', options };
}
