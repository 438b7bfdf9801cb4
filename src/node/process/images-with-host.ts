/** The images of the process runtime: those of a store, and the image `host`. */
import { PathInsideError } from '../../base/files/inside/errors.ts';
import { pathInside } from '../../base/files/inside/open-inside.ts';
import { readInside } from '../../base/files/inside/read-inside.ts';
import { HOST_IMAGE_ID, isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { ImageStore } from '../images/image-store.ts';
import type { ContainerConfig, IdMapping, Mount } from '../runtime/container-config.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Images } from '../runtime/runtime.ts';
import { HOST_IMAGE, HOST_IMAGE_REFUSED, hostImageConfig } from './host-image.ts';
import type { ResolvedImage } from './wire/calls.ts';

/** Limit for each file that names the users and groups of an image. */
const MAX_USER_FILE_BYTES = 1024 * 1024;

/**
 * Where the image `host` is not allowed, nobody can find it: images of admitted pods can be changed, and debug containers
 * added. `user` is the one who runs its programs; undefined: root.
 */
export function imagesWithHost(store: ImageStore, allowsHostImage: boolean, user?: number): Images {
  const hostImage = { ...HOST_IMAGE, user };
  const isHost = (reference: string) => {
    if (!isHostImage(reference)) return false;
    if (!allowsHostImage) throw new RuntimeError('Unsupported', HOST_IMAGE_REFUSED);
    return true;
  };
  return {
    list: async () => [...(await store.list()), ...(allowsHostImage ? [hostImage] : [])],
    find: async (reference) => (isHost(reference) ? hostImage : store.find(reference)),
    isBuiltIn: (reference) => allowsHostImage && isHostImage(reference),
    pull: async (reference, credentials) => (isHost(reference) ? HOST_IMAGE_ID : store.pull(reference, credentials)),
    remove: async (id) => {
      if (isHostImage(id))
        throw new RuntimeError('Unsupported', 'the image "host" cannot be removed: it is the files of the node');
      await store.remove(id);
    },
    load: (archive) => store.load(archive),
    usage: () => store.usage(),
  };
}

/** Where images and the files of the node come from. */
export interface HostImages {
  readonly store: ImageStore;
  /** The path of Node. */
  readonly node: string;
  /** Paths of the node that no container sees. */
  readonly hidden: () => Promise<readonly string[]>;
}

/** Looks up what a container needs from its image, and from those that it mounts. `idMappings` are those of its user namespace. */
export async function resolveImage(
  { store, node, hidden }: HostImages,
  config: ContainerConfig,
  idMappings: readonly IdMapping[] | undefined,
): Promise<ResolvedImage> {
  const isHost = isHostImage(config.imageId);
  const base = idMappings?.[0]?.hostId;
  const [directory, imageConfig] = isHost
    ? ['/', hostImageConfig(node)]
    : await Promise.all([store.unpack(config.imageId), store.config(config.imageId)]);
  const [hiddenPaths, passwd, group, mounted] = await Promise.all([
    isHost ? hidden() : [],
    userFile(directory, 'etc/passwd'),
    userFile(directory, 'etc/group'),
    Promise.all(config.mounts.flatMap(({ image }) => (image ? [mountedPart(store, image)] : []))),
  ]);
  const shifted = isHost || base === undefined ? [] : [await store.shiftedLayer(config.imageId, base)];
  return {
    directory,
    layers: isHost ? [] : [...shifted, directory],
    hidden: hiddenPaths,
    config: imageConfig,
    users: { passwd, group },
    mounted: Object.fromEntries(mounted),
  };
}

type MountedImage = NonNullable<Mount['image']>;

/** The key of a mounted image, or a part of one, in `ResolvedImage.mounted`. Ids have no slash. */
export function mountedKey({ id, subPath }: MountedImage): string {
  return subPath === '' ? id : `${id}/${subPath}`;
}

/** Nobody writes to the files of an image, so that a path without links stays what it is. */
async function mountedPart(store: ImageStore, image: MountedImage): Promise<readonly [string, string]> {
  const directory = await store.unpack(image.id);
  if (image.subPath === '') return [mountedKey(image), directory];
  try {
    return [mountedKey(image), await pathInside(directory, image.subPath, { links: 'chroot' })];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && !(error instanceof PathInsideError)) throw error;
    throw new RuntimeError('CannotRun', `the image volume has no "${image.subPath}"`, { cause: error });
  }
}

/** An image may have no such file, or a link to another one of its own. */
async function userFile(directory: string, path: string): Promise<string> {
  const bytes = await readInside(directory, path, { links: 'chroot', maxBytes: MAX_USER_FILE_BYTES }).catch((cause) => {
    throw new RuntimeError('CannotRun', `${path} of the image cannot be read: ${(cause as Error).message}`, { cause });
  });
  return bytes?.toString('utf8') ?? '';
}
