/** Prepares the paths of the node that a container mounts. */
import { existsSync, realpathSync } from 'node:fs';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import type { Mount } from '../../../runtime/container-config.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import { type MountFlags, mountAt } from '../../oci/mount-flags.ts';

const MODE = 0o755;

/** Makes directories for those that are not there, as other runtimes do. */
export function makeSources(mounts: readonly Mount[]): void {
  for (const { hostPath, image } of mounts) if (!image && !existsSync(hostPath)) makeDirectoriesSync(hostPath, MODE);
}

/** Throws a RuntimeError where the mounts of a bidirectional volume would stay in the container. */
export function requireSharedMounts(mounts: readonly Mount[], ofNode: MountFlags): void {
  for (const { propagation, hostPath } of mounts) {
    if (propagation !== 'bidirectional') continue;
    const mount = mountAt(ofNode, realpathSync(hostPath));
    if (mount?.isShared) continue;
    const found = `${hostPath} is mounted on ${mount?.point ?? '/'}, which is not a shared mount`;
    const remedy = `mount --bind ${hostPath} ${hostPath} && mount --make-rshared ${hostPath}`;
    throw new RuntimeError(
      'CannotRun',
      `mountPropagation Bidirectional: ${found}; make it one on the node, for example with: ${remedy}`,
    );
  }
}
