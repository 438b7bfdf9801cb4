/**
 * Where a user who is not root may make cgroups: below the one that this process is in, if somebody has given it or one above it to that
 * user, as systemd does for users (`user@.service`, `Delegate=`) and pam_cgfs for version 1.
 */
import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';

/** A mounted hierarchy of cgroups. */
export interface MountedHierarchy {
  readonly path: string;
  readonly version: 1 | 2;
  /** Controllers of the hierarchy, in version 1. */
  readonly controllers: readonly string[];
}

/** Files of a cgroup that must be writable besides its folder, so that it can hold others with processes and limits. */
const FILES = { 1: [], 2: ['cgroup.procs', 'cgroup.subtree_control'] } as const;

/** The cgroups that may be used, the uppermost first: it is the same for all sessions of the user. */
export function delegatedRoots(hierarchy: MountedHierarchy, membership: string): readonly string[] {
  const own = ownCgroup(hierarchy, membership);
  if (own === undefined) return [];
  const found: string[] = [];
  for (let path = own; isWritable(hierarchy, path); path = dirname(path)) {
    found.unshift(join(hierarchy.path, path));
    if (path === '/') break;
  }
  return found;
}

/** The path of this process, from the lines of `/proc/self/cgroup`. One outside of its namespace cannot be seen. */
function ownCgroup({ version, controllers }: MountedHierarchy, membership: string): string | undefined {
  for (const line of membership.split('\n')) {
    const [, ids = '', path = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const isThis = version === 2 ? line.startsWith('0::') : ids.split(',').some((id) => controllers.includes(id));
    if (isThis && path !== '' && !path.split('/').includes('..')) return path;
  }
  return undefined;
}

function isWritable({ path: mount, version }: MountedHierarchy, path: string): boolean {
  const folder = join(mount, path);
  try {
    for (const file of ['.', ...FILES[version]]) accessSync(join(folder, file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
