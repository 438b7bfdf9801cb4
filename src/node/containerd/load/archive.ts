/** Finds the images in an archive. */

import { createReadStream } from 'node:fs';
import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { decompressed } from '../../images/content/decompress.ts';
import { isObject, MAX_DOCUMENT_BYTES } from '../../images/content/documents.ts';
import { readTar, type TarEntry } from '../../images/tar/read-tar.ts';
import { RuntimeError } from '../../runtime/errors.ts';

export type Archive =
  /** An OCI layout: its blobs are named by their digests, and its index names manifests. */
  | { readonly type: 'oci'; readonly index: Buffer }
  /** `docker save` without an OCI layout. */
  | { readonly type: 'docker'; readonly images: readonly DockerImage[]; readonly links: ReadonlyMap<string, string> };

interface DockerImage {
  /** Names of files in the archive. */
  readonly config: string;
  readonly layers: readonly string[];
  readonly names: readonly string[];
}

/** The files of an archive, in their order. Each can be read until the next one is asked for. */
export async function* filesOf(archive: string): AsyncGenerator<TarEntry> {
  const source = createReadStream(archive);
  try {
    for await (const entry of readTar(decompressed(source))) yield { ...entry, path: plainPath(entry.path) };
  } finally {
    source.destroy();
  }
}

/** Reads an archive. Rejects with RuntimeError if it does not contain images. */
export async function readArchive(archive: string): Promise<Archive> {
  let index: Buffer | undefined;
  let manifest: Buffer | undefined;
  const links = new Map<string, string>();
  for await (const entry of filesOf(archive)) {
    if (entry.path === 'index.json') index = await contentOf(entry);
    else if (entry.path === 'manifest.json') manifest = await contentOf(entry);
    else if (entry.type === 'symlink') links.set(entry.path, linkedPath(entry));
  }
  if (index) return { type: 'oci', index };
  if (manifest) return { type: 'docker', images: dockerImages(manifest), links };
  throw new RuntimeError('Unknown', `${archive} is neither an OCI nor a Docker archive of images`);
}

export async function contentOf({ path, size, content }: TarEntry): Promise<Buffer> {
  if (size > MAX_DOCUMENT_BYTES) throw new RuntimeError('Unknown', `${path} in the archive is too large`);
  return buffer(content);
}

function dockerImages(manifest: Buffer): DockerImage[] {
  const items: unknown = JSON.parse(manifest.toString('utf8'));
  if (!Array.isArray(items)) throw new RuntimeError('Unknown', 'manifest.json of the archive is not a list');
  return items.map((item) => {
    if (!isObject(item) || typeof item.Config !== 'string') {
      throw new RuntimeError('Unknown', 'manifest.json of the archive does not name a configuration');
    }
    return { config: plainPath(item.Config), layers: texts(item.Layers).map(plainPath), names: texts(item.RepoTags) };
  });
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function plainPath(path: string): string {
  return posix.normalize(path).replace(/^\/+/, '').replace(/\/$/, '');
}

/** Old archives have a layer once, and links to it. */
function linkedPath({ path, linkTarget }: TarEntry): string {
  return plainPath(posix.join(posix.dirname(path), linkTarget));
}
