/**
 * Which paths of a container can be covered by mounts of its pod. /proc, /sys and /dev belong to the runtime: what masks and
 * protects them must not come from a pod. Links in the image are the business of what performs the mounts.
 */
import { posix } from 'node:path';
import type { ContainerConfig } from '../runtime/container-config.ts';

/** Devices that the runtime itself puts into /dev. */
const OWN_DEVICES = new Set([
  ...['null', 'zero', 'full', 'random', 'urandom', 'tty', 'console', 'ptmx', 'pts'],
  ...['fd', 'stdin', 'stdout', 'stderr', 'core'],
]);

/** Returns why a mount or device of a container is rejected, as a sentence without its full stop; undefined: none is. */
export function mountPathProblem({ mounts, devices, security }: ContainerConfig): string | undefined {
  for (const { containerPath, hostPath } of [...mounts, ...devices]) {
    const why = rejection(containerPath, { hostPath, isPrivileged: security.privileged });
    if (why !== undefined) return `cannot mount at ${containerPath}: ${why}`;
  }
  return undefined;
}

interface MountSource {
  /** A path on the node; empty for an image. */
  readonly hostPath: string;
  readonly isPrivileged: boolean;
}

function rejection(path: string, { hostPath, isPrivileged }: MountSource): string | undefined {
  if (!path.startsWith('/')) return 'the path must be absolute';
  if (path.split('/').includes('..')) return 'the path must not contain ".."';
  const [top, name] = path.split('/').filter((part) => part !== '' && part !== '.');
  if (top === undefined) return 'the root of a container cannot be covered';
  // Drivers and other agents of the node have its own /dev and /sys.
  const isNodes = isPrivileged && isAtOrBelow(hostPath, `/${top}`);
  switch (top) {
    case 'proc':
      return 'nothing can be mounted at or below /proc';
    case 'sys':
      return isNodes ? undefined : 'only privileged containers can mount there, and only /sys of the node';
    case 'dev':
      if (isNodes || (name !== undefined && !OWN_DEVICES.has(name))) return undefined;
      return name === undefined
        ? 'only privileged containers can mount there, and only /dev of the node'
        : 'the container has its own file there';
    default:
      return undefined;
  }
}

function isAtOrBelow(path: string, directory: string): boolean {
  const normalized = posix.normalize(path);
  return normalized === directory || normalized.startsWith(`${directory}/`);
}
