/**
 * Checks the mounts of a container before anything trusts them. Mount paths are resolved by the OCI runtime, through links of the image
 * and of volumes, which other processes may exchange at any time: what counts is where mounts have become. The runtime masks files of the
 * kernel with the /dev/null of the container, and opens it for processes; so nothing of a pod may be at the root, /dev, /proc or /sys.
 */

import { programText } from '../../../base/programs/program-text.ts';

const SCRIPT = programText(new URL('./own-mounts.sh', import.meta.url));

/**
 * Runs in the mount namespace of the container, when everything is mounted and the root is still where the node has it: the working
 * directory, unless one is given.
 */
export function ownMountsHook(root?: string): OciHook {
  const args = ['sh', '-c', SCRIPT, 'sh', ...(root === undefined ? [] : [root])];
  return { path: '/bin/sh', args, env: ['PATH=/usr/bin:/bin'], timeout: 10 };
}

/** A hook as the OCI runtime specification describes it. */
export interface OciHook {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  /** In seconds. */
  readonly timeout: number;
}
