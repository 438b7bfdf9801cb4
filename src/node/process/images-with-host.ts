/** The images of the process runtime: those of a store, and the image `host`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOST_IMAGE_ID, isHostImage } from '../../kinds/shapes/container/host-image.ts';
import type { ImageStore } from '../images/image-store.ts';
import type { ContainerConfig, IdMapping } from '../runtime/container-config.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Images } from '../runtime/runtime.ts';
import { HOST_IMAGE, HOST_IMAGE_REFUSED, hostImageConfig } from './host-image.ts';
import type { ResolvedImage } from './wire/calls.ts';

/**
 * Where the image `host` is not allowed, nobody can find it: images of admitted pods can be changed, and debug containers
 * added.
 */
export function imagesWithHost(store: ImageStore, allowsHostImage: boolean): Images {
  const isHost = (reference: string) => {
    if (!isHostImage(reference)) return false;
    if (!allowsHostImage) throw new RuntimeError('Unsupported', HOST_IMAGE_REFUSED);
    return true;
  };
  return {
    list: async () => [...(await store.list()), ...(allowsHostImage ? [HOST_IMAGE] : [])],
    find: async (reference) => (isHost(reference) ? HOST_IMAGE : store.find(reference)),
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
  readonly hidden: readonly string[];
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
  const [passwd, group, mounted] = await Promise.all([
    textIn(join(directory, 'etc/passwd')),
    textIn(join(directory, 'etc/group')),
    Promise.all(
      config.mounts.flatMap(({ image }) =>
        image ? [store.unpack(image.id).then((path) => [image.id, path] as const)] : [],
      ),
    ),
  ]);
  const shifted = isHost || base === undefined ? [] : [await store.shiftedLayer(config.imageId, base)];
  return {
    directory,
    layers: isHost ? [] : [...shifted, directory],
    hidden: isHost ? hidden : [],
    config: imageConfig,
    users: { passwd, group },
    mounted: Object.fromEntries(mounted),
  };
}

/** An image may have no such file. */
async function textIn(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return '';
  }
}
