/** Prepares the mounts of a container. */
import { dirname, isAbsolute, join } from 'node:path';
import { TRAVERSED_DIRECTORY } from '../../base/files/own/modes.ts';
import { chmod, chown, makeDirectory, writeFile } from '../../base/files/own/own-files.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { Device, Mount, Propagation } from '../runtime/container-config.ts';
import { type HostIds, rootOf } from './host/host-ids.ts';
import type { Layout } from './host/layout.ts';
import type { Mounter } from './host/mounter.ts';
import { prepareSubPath, subPathOf } from './sub-path.ts';
import { type ContainerMounts, type MountRequest, type PreparedVolumes, VolumeError } from './volumes.ts';

const HOSTS = '/etc/hosts';

type VolumeMount = NonNullable<SeenContainer['volumeMounts']>[number];

export interface MountContext {
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly prepared: PreparedVolumes;
  readonly ids: HostIds | undefined;
}

export async function containerMounts(
  pod: SeenPod,
  container: SeenContainer,
  request: MountRequest,
  context: MountContext,
): Promise<ContainerMounts> {
  const uid = pod.metadata.uid ?? '';
  const { volumeMounts = [] } = container;
  const mounts: Mount[] = [];
  for (const [index, mount] of volumeMounts.entries()) {
    mounts.push(await volumeMount(uid, container.name, index, mount, request, context));
  }
  if (request.hosts !== undefined && !volumeMounts.some(({ mountPath }) => mountPath === HOSTS)) {
    const hostPath = context.layout.hosts(uid);
    await writeShared(hostPath, request.hosts, { mode: 0o644, ids: context.ids });
    mounts.push(plainMount(hostPath, HOSTS, request));
  }
  const { terminationMessagePath } = container;
  if (terminationMessagePath) {
    const hostPath = context.layout.terminationMessage(uid, container.name, request.attempt);
    // Programs of any user may write their last message.
    await writeShared(hostPath, '', { mode: 0o666, ids: context.ids });
    mounts.push(plainMount(hostPath, terminationMessagePath, request));
  }
  return { mounts, devices: devicesOf(container, context.prepared) };
}

async function volumeMount(
  uid: string,
  container: string,
  index: number,
  mount: VolumeMount,
  request: MountRequest,
  { layout, mounter, prepared, ids }: MountContext,
): Promise<Mount> {
  const volume = prepared.get(mount.name);
  if (!volume) throw new VolumeError(`cannot find volume "${mount.name}" to mount into container "${container}"`);
  const subPath = subPathOf(mount, request.env);
  const common = {
    containerPath: isAbsolute(mount.mountPath) ? mount.mountPath : join('/', mount.mountPath),
    recursiveReadOnly: isRecursivelyReadOnly(mount, request.supportsRecursiveReadOnly),
    propagation: propagationOf(mount.mountPropagation),
    idMappings: mappings(request),
  };
  if (volume.type === 'image') {
    const image = { id: volume.imageId, subPath };
    return { ...common, hostPath: '', readOnly: true, selinuxRelabel: false, image };
  }
  const hostPath = subPath
    ? await prepareSubPath({
        volumePath: volume.path,
        subPath,
        mountPoint: layout.subPath(uid, mount.name, container, index),
        mounter,
        ids,
        container,
        volume: mount.name,
      })
    : volume.path;
  const readOnly = volume.readOnly || (mount.readOnly ?? false);
  return { ...common, hostPath, readOnly, selinuxRelabel: volume.selinuxRelabel, image: undefined };
}

function propagationOf(mode: string | undefined): Propagation {
  switch (mode) {
    case undefined:
    case 'None':
      return 'private';
    case 'HostToContainer':
      return 'host-to-container';
    case 'Bidirectional':
      return 'bidirectional';
    default:
      throw new VolumeError(`invalid MountPropagation mode: "${mode}"`);
  }
}

function isRecursivelyReadOnly({ name, mountPath, recursiveReadOnly = 'Disabled' }: VolumeMount, isSupported: boolean) {
  if (recursiveReadOnly === 'Disabled') return false;
  if (recursiveReadOnly === 'IfPossible') return isSupported;
  if (isSupported) return true;
  throw new VolumeError(
    `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode at "${mountPath}", but it is not supported by the runtime`,
  );
}

const mappings = ({ idMappings }: MountRequest): Mount['idMappings'] =>
  idMappings && { uids: idMappings, gids: idMappings };

function plainMount(hostPath: string, containerPath: string, request: MountRequest): Mount {
  return {
    hostPath,
    containerPath,
    readOnly: false,
    recursiveReadOnly: false,
    propagation: 'private',
    selinuxRelabel: true,
    idMappings: mappings(request),
    image: undefined,
  };
}

/**
 * Writes a file in place, because running containers have this very file mounted. They can change its content and mode,
 * but neither replace nor remove it: its name is in a directory that they do not see.
 */
async function writeShared(
  path: string,
  contents: string,
  { mode, ids }: { readonly mode: number; readonly ids: HostIds | undefined },
): Promise<void> {
  await makeDirectory(dirname(path), TRAVERSED_DIRECTORY);
  await writeFile(path, contents);
  if (ids) await chown(path, rootOf(ids).uid, rootOf(ids).gid);
  await chmod(path, mode);
}

function devicesOf({ name: container, volumeDevices = [] }: SeenContainer, prepared: PreparedVolumes): Device[] {
  return volumeDevices.map(({ name, devicePath }) => {
    const volume = prepared.get(name);
    if (volume?.type !== 'directory') {
      throw new VolumeError(`cannot find volume "${name}" to pass into container "${container}"`);
    }
    return { hostPath: volume.path, containerPath: devicePath, permissions: volume.readOnly ? 'r' : 'mrw' };
  });
}
