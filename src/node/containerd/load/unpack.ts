import { createHash } from 'node:crypto';
import type { Descriptor } from '../../images/content/descriptor.ts';
import type { RuntimeError } from '../../runtime/errors.ts';
import type { Connection } from '../calls/connection.ts';
import { containerdApi, cri, underLease } from '../calls/methods.ts';

/** Parts of an image on one platform. */
export interface ImageContent {
  /** The digest of its configuration, which is the image's id. */
  readonly id: string;
  readonly layers: readonly Descriptor[];
  /** Digests of the uncompressed layers. */
  readonly diffIds: readonly string[];
}

interface UnpackOptions {
  readonly connection: Connection;
  readonly lease: string;
  /** Snapshotter of the containers that will use the image. */
  readonly snapshotter: string;
}

/** Returns the snapshotter of containers, from the folder of images: `…/io.containerd.snapshotter.v1.overlayfs`. */
export async function snapshotterOf(connection: Connection): Promise<string | undefined> {
  const { images } = await connection.call(cri.imageUsage, {});
  return /io\.containerd\.snapshotter\.v1\.([^/]+)$/.exec(images[0]?.directory?.path ?? '')?.[1];
}

/** A layer may be large. */
const APPLY_TIMEOUT_MS = 10 * 60_000;

/**
 * Unpacks the layers of an image whose blobs are in the content store, so that its first container does not wait for it. Layers that
 * are unpacked already are not unpacked again. Returns the label that keeps them as long as the image's configuration.
 */
export async function unpack(
  { layers, diffIds }: ImageContent,
  { connection, lease, snapshotter }: UnpackOptions,
): Promise<Readonly<Record<string, string>>> {
  let parent = '';
  for (const [at, { mediaType, digest, size }] of layers.entries()) {
    const name = chainId(parent, diffIds[at]!);
    const isThere = await connection.call(containerdApi.statSnapshot, { snapshotter, key: name }).catch(ignoreNotFound);
    if (!isThere) {
      const key = `${lease}-${name}`;
      const prepare = underLease(containerdApi.prepareSnapshot, lease);
      const { mounts } = await connection.call(prepare, { snapshotter, key, parent });
      await connection.call(containerdApi.applyDiff, { diff: { mediaType, digest, size }, mounts }, APPLY_TIMEOUT_MS);
      const commit = underLease(containerdApi.commitSnapshot, lease);
      await connection.call(commit, { snapshotter, name, key }).catch(ignoreExisting);
    }
    parent = name;
  }
  return parent === '' ? {} : { [`containerd.io/gc.ref.snapshot.${snapshotter}`]: parent };
}

/** Returns the id of a layer on top of others, as the specification of OCI images defines it. */
function chainId(parent: string, diffId: string): string {
  if (parent === '') return diffId;
  return `sha256:${createHash('sha256').update(`${parent} ${diffId}`).digest('hex')}`;
}

function ignoreNotFound(error: RuntimeError): undefined {
  if (error.code !== 'NotFound') throw error;
}

/** Ignores that another program was faster. */
function ignoreExisting(error: RuntimeError): void {
  if (!error.message.includes('already exists')) throw error;
}
