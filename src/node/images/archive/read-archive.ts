/** Reads an archive into an ingest: an OCI layout, or the output of `docker save`. */
import { posix } from 'node:path';
import { groupBy } from '../../../base/collections/group-by.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { decompressed } from '../content/decompress.ts';
import type { Descriptor, Platform } from '../content/descriptor.ts';
import { checkDigest } from '../content/digest.ts';
import { withinRoom } from '../content/disk-room.ts';
import { isObject, type Manifest, parseList, parseManifest } from '../content/documents.ts';
import { OCI_CONFIG, OCI_LAYER, OCI_MANIFEST } from '../content/media-types.ts';
import { choosePlatform } from '../content/platform.ts';
import { fullName, parseReference } from '../reference.ts';
import type { Ingest, IngestedBlob } from '../store/ingest.ts';
import { readTar } from '../tar/read-tar.ts';

/** An image whose parts are all in the ingest. */
export interface LoadedImage {
  /** Full names, with tags. */
  readonly names: readonly string[];
  readonly digest: string;
  readonly manifest: Manifest;
}

export interface ReadArchiveOptions {
  readonly platform: Platform;
  /** Name, without a tag, for images that have none in the archive. */
  readonly fallbackName: string;
}

/** An archive has some dozen files. */
const MAX_FILES = 10_000;
const BLOB = /^blobs\/sha256\/([0-9a-f]{64})$/;
const NAME = 'io.containerd.image.name';
const REF_NAME = 'org.opencontainers.image.ref.name';

/** The files of an archive, by path. */
class ArchivedFiles {
  readonly #files = new Map<string, IngestedBlob | { readonly link: string }>();

  add(path: string, file: IngestedBlob | { readonly link: string }): void {
    if (this.#files.size >= MAX_FILES) throw new RuntimeError('Unknown', 'the archive has too many files');
    this.#files.set(posix.normalize(path), file);
  }

  /** Docker links layers that occur twice. */
  find(path: string, depth = 0): IngestedBlob | undefined {
    const file = this.#files.get(posix.normalize(path));
    if (file === undefined || 'digest' in file) return file;
    return depth > 1 ? undefined : this.find(file.link, depth + 1);
  }

  get(path: string): IngestedBlob {
    const file = this.find(path);
    if (!file) throw new RuntimeError('Unknown', `the archive has no ${path}`);
    return file;
  }
}

export async function readArchive(
  ingest: Ingest,
  source: AsyncIterable<Uint8Array>,
  options: ReadArchiveOptions,
): Promise<readonly LoadedImage[]> {
  const files = await readFiles(ingest, source);
  const index = files.find('index.json');
  if (index) return readLayout(ingest, await ingest.document('index.json', index.digest), options);
  if (files.find('manifest.json')) return readDocker(ingest, files, options);
  throw new RuntimeError('Unknown', 'this is not an image: the archive has neither index.json nor manifest.json');
}

async function readFiles(ingest: Ingest, source: AsyncIterable<Uint8Array>): Promise<ArchivedFiles> {
  const files = new ArchivedFiles();
  for await (const { type, path, linkTarget, content } of readTar(
    withinRoom(decompressed(source), ingest.directory, 'the archive'),
  )) {
    if (type === 'hardlink') files.add(path, { link: linkTarget });
    else if (type === 'symlink') files.add(path, { link: posix.join(posix.dirname(path), linkTarget) });
    else if (type === 'file') {
      const blob = await ingest.add(content);
      const digits = BLOB.exec(posix.normalize(path))?.[1];
      if (digits !== undefined) checkDigest(path, blob.digest, `sha256:${digits}`);
      files.add(path, blob);
    }
  }
  return files;
}

async function readLayout(ingest: Ingest, bytes: Buffer, options: ReadArchiveOptions): Promise<LoadedImage[]> {
  const index = parseManifest('index.json', bytes);
  if (index.type !== 'index') throw new RuntimeError('Unknown', 'index.json is not an index');
  const byName = groupBy(index.manifests, (descriptor) => nameOf(descriptor, options.fallbackName));
  const images: LoadedImage[] = [];
  const known: KnownManifests = new Map();
  for (const [name, descriptors] of byName) {
    const { digest, manifest } = await resolve({ ingest, known, platform: options.platform }, name, descriptors);
    images.push({ names: [name], digest, manifest });
  }
  return images;
}

function nameOf({ annotations = {} }: Descriptor, fallback: string): string {
  const name = annotations[NAME] ?? annotations[REF_NAME];
  if (name === undefined) return fullName(parseReference(fallback));
  // Some write the tag only.
  return fullName(parseReference(/^[\w.-]+$/.test(name) ? `${fallback}:${name}` : name));
}

/** Manifests by digest: thousands of names may have one manifest of megabytes. */
type KnownManifests = Map<string, ReturnType<typeof parseManifest>>;

/** Follows indexes to the manifest for the platform. */
async function resolve(
  layout: { readonly ingest: Ingest; readonly known: KnownManifests; readonly platform: Platform },
  name: string,
  descriptors: readonly Descriptor[],
): Promise<{ digest: string; manifest: Manifest }> {
  const { ingest, known, platform } = layout;
  const chosen = choosePlatform(descriptors, platform);
  if (!chosen) {
    const wanted = `${platform.os}/${platform.architecture}`;
    throw new RuntimeError('ImageNotFound', `${name}: the archive has no image for ${wanted}`);
  }
  let parsed = known.get(chosen.digest);
  if (!parsed) {
    parsed = parseManifest(name, await ingest.document(`the manifest of ${name}`, chosen.digest));
    known.set(chosen.digest, parsed);
  }
  if (parsed.type === 'index') return resolve(layout, name, parsed.manifests);
  return { digest: chosen.digest, manifest: parsed };
}

/** Reads an archive of Docker and makes a manifest for each image: such archives have none. */
async function readDocker(
  ingest: Ingest,
  files: ArchivedFiles,
  { fallbackName }: ReadArchiveOptions,
): Promise<LoadedImage[]> {
  const bytes = await ingest.document('manifest.json', files.get('manifest.json').digest);
  const entries = parseList('manifest.json', bytes);
  const images: LoadedImage[] = [];
  for (const entry of entries) {
    if (!isObject(entry) || typeof entry.Config !== 'string' || !Array.isArray(entry.Layers)) {
      throw new RuntimeError('Unknown', 'manifest.json has an entry without configuration or layers');
    }
    const config = { mediaType: OCI_CONFIG, ...files.get(entry.Config) };
    const layers = entry.Layers.map((path) => ({ mediaType: OCI_LAYER, ...files.get(String(path)) }));
    const document = JSON.stringify({ schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers });
    const { digest } = await ingest.add([Buffer.from(document)]);
    const tags = Array.isArray(entry.RepoTags) && entry.RepoTags.length > 0 ? entry.RepoTags : [fallbackName];
    const names = tags.map((tag) => fullName(parseReference(String(tag))));
    images.push({ names, digest, manifest: { type: 'manifest', config, layers } });
  }
  return images;
}
