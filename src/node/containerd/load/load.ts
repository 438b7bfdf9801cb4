import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { parseConfig } from '../../images/content/config.ts';
import type { Descriptor } from '../../images/content/descriptor.ts';
import { digestOf } from '../../images/content/digest.ts';
import { MAX_DOCUMENT_BYTES, parseManifest } from '../../images/content/documents.ts';
import { fullName, parseReference } from '../../images/reference.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Connection } from '../calls/connection.ts';
import { containerdApi, cri } from '../calls/methods.ts';
import { type Archive, contentOf, filesOf, readArchive } from './archive.ts';
import { type Blob, ContentStore } from './content-store.ts';
import { type ImageContent, snapshotterOf, unpack } from './unpack.ts';

interface LoadOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Name for the only image of the archive, instead of its own. */
  readonly as?: string;
  /** Otherwise images are unpacked when they are first used. */
  readonly unpacks: boolean;
}

/** An image in the content store. */
interface LoadedImage {
  readonly target: Descriptor;
  /** Contents for each platform. */
  readonly contents: readonly ImageContent[];
  readonly names: readonly string[];
}

const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const DOCKER_CONFIG = 'application/vnd.docker.container.image.v1+json';
const DOCKER_LAYER = 'application/vnd.docker.image.rootfs.diff.tar';
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
/** Timeout until CRI has noticed a new image. */
const NOTICE_TIMEOUT_MS = 10_000;
const POLL_MS = 10;

/** Loads the images of an archive, and returns their names. Resolves when CRI knows them. */
export async function loadArchive(file: string, options: LoadOptions): Promise<readonly string[]> {
  const { connection, clock, as, unpacks } = options;
  const archive = await readArchive(file);
  const lease = `quarterdeck-load-${createHash('sha256').update(`${file} ${clock.now()}`).digest('hex').slice(0, 16)}`;
  await connection.call(containerdApi.createLease, { id: lease });
  try {
    const store = new ContentStore(connection, lease);
    const images =
      archive.type === 'oci' ? await loadOci(file, archive, store) : await loadDocker(file, archive, store);
    if (as !== undefined && images.length !== 1) throw new RuntimeError('Unknown', `${file} has several images`);
    const snapshotter = unpacks ? await snapshotterOf(connection) : undefined;
    const loaded: string[] = [];
    for (const image of images) {
      for (const name of as === undefined ? image.names : [as]) {
        await nameImage(connection, name, image);
        const content = await noticed({ connection, clock }, name, image);
        if (snapshotter) await store.label(content.id, await unpack(content, { connection, lease, snapshotter }));
        loaded.push(name);
      }
    }
    return loaded;
  } finally {
    await connection.call(containerdApi.deleteLease, { id: lease });
  }
}

async function loadOci(
  file: string,
  { index }: Extract<Archive, { type: 'oci' }>,
  store: ContentStore,
): Promise<LoadedImage[]> {
  const documents = new Map<string, Buffer>();
  for await (const entry of filesOf(file)) {
    const digits = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(entry.path)?.[1];
    if (entry.type !== 'file' || digits === undefined) continue;
    const digest = `sha256:${digits}`;
    // Manifests are small, and needed below; layers of this size do no harm.
    const bytes = entry.size <= MAX_DOCUMENT_BYTES ? await contentOf(entry) : undefined;
    if (bytes?.[0] === '{'.charCodeAt(0)) documents.set(digest, bytes);
    await store.write({ ref: digest, size: entry.size, digest, content: bytes ? [bytes] : entry.content });
  }
  const parsed = parseManifest('index.json of the archive', index);
  if (parsed.type !== 'index') throw new RuntimeError('Unknown', 'index.json of the archive is not an index');
  const images: LoadedImage[] = [];
  const references = new References(documents, store);
  for (const target of parsed.manifests) {
    const contents = await references.of(target.digest);
    images.push({ target, contents, names: namesOf(target, file) });
  }
  return images;
}

/**
 * Contents that the manifests of an archive refer to. Each is looked at once: indexes may list one many times, and
 * other indexes.
 */
class References {
  readonly #known = new Map<string, readonly ImageContent[]>();

  constructor(
    private readonly documents: ReadonlyMap<string, Buffer>,
    private readonly store: ContentStore,
  ) {}

  /**
   * Labels manifests with the blobs that they refer to, so that these are kept with them. Returns the contents for each
   * platform.
   */
  async of(digest: string): Promise<readonly ImageContent[]> {
    let contents = this.#known.get(digest);
    if (!contents) {
      contents = await this.#label(digest);
      this.#known.set(digest, contents);
    }
    return contents;
  }

  async #label(digest: string): Promise<readonly ImageContent[]> {
    const bytes = this.documents.get(digest);
    // Archives for one platform often name the manifests of others as well.
    if (!bytes) return [];
    const manifest = parseManifest(digest, bytes);
    const labels =
      manifest.type === 'index'
        ? Object.fromEntries(
            manifest.manifests.map((each, at) => [`containerd.io/gc.ref.content.m.${at}`, each.digest]),
          )
        : manifestLabels(manifest.config, manifest.layers);
    await this.store.write({ ref: digest, size: bytes.length, digest, labels, content: [bytes] });
    if (manifest.type === 'manifest') {
      const { config, layers } = manifest;
      return [imageContent({ config: config.digest, layers }, this.documents.get(config.digest))];
    }
    const contents = new Set<ImageContent>();
    for (const each of new Set(manifest.manifests.map((item) => item.digest))) {
      for (const content of await this.of(each)) contents.add(content);
    }
    return [...contents];
  }
}

/** Images can have configurations of other kinds, whose layers are not those of a file system. */
function imageContent(
  { config, layers }: { readonly config: string; readonly layers: readonly Descriptor[] },
  bytes: Buffer | undefined,
): ImageContent {
  const diffIds = bytes && diffIdsOf(config, bytes);
  return diffIds?.length === layers.length ? { id: config, layers, diffIds } : { id: config, layers: [], diffIds: [] };
}

function diffIdsOf(config: string, bytes: Buffer): readonly string[] | undefined {
  try {
    return parseConfig(config, bytes).diffIds;
  } catch {
    return undefined;
  }
}

function manifestLabels(config: Pick<Blob, 'digest'>, layers: readonly Pick<Blob, 'digest'>[]): Record<string, string> {
  return Object.fromEntries([
    ['containerd.io/gc.ref.content.config', config.digest],
    ...layers.map(({ digest }, at) => [`containerd.io/gc.ref.content.l.${at}`, digest]),
  ]);
}

async function loadDocker(
  file: string,
  { images, links }: Extract<Archive, { type: 'docker' }>,
  store: ContentStore,
): Promise<LoadedImage[]> {
  const real = (path: string) => links.get(path) ?? path;
  const wanted = new Set(images.flatMap(({ config, layers }) => [config, ...layers]).map(real));
  const configs = new Set(images.map(({ config }) => real(config)));
  const blobs = new Map<string, DockerBlob>();
  for await (const entry of filesOf(file)) {
    if (entry.type !== 'file' || !wanted.has(entry.path)) continue;
    const bytes = configs.has(entry.path) ? await contentOf(entry) : undefined;
    const [isGzip, content] = bytes ? [false, [bytes]] : await peek(entry.content);
    const blob = await store.write({ ref: `${file}:${entry.path}`, size: entry.size, digest: undefined, content });
    blobs.set(entry.path, { ...blob, isGzip, bytes });
  }
  const blobOf = (path: string) => {
    const blob = blobs.get(real(path));
    if (!blob) throw new RuntimeError('Unknown', `${path} is missing in the archive`);
    return blob;
  };
  const loaded: LoadedImage[] = [];
  // Manifests are written one after the other: two images can have the same one.
  for (const { config, layers, names } of images) {
    const { target, content } = await writeManifest(store, blobOf(config), layers.map(blobOf));
    loaded.push({ target, contents: [content], names: names.map((name) => fullName(parseReference(name))) });
  }
  return loaded;
}

interface DockerBlob extends Blob {
  readonly isGzip: boolean;
  /** Content of a configuration. */
  readonly bytes: Buffer | undefined;
}

async function writeManifest(
  store: ContentStore,
  { digest, size, bytes: config }: DockerBlob,
  layers: readonly DockerBlob[],
): Promise<{ readonly target: Descriptor; readonly content: ImageContent }> {
  const manifest = {
    schemaVersion: 2,
    mediaType: DOCKER_MANIFEST,
    config: { mediaType: DOCKER_CONFIG, digest, size },
    layers: layers.map((layer) => ({
      mediaType: layer.isGzip ? `${DOCKER_LAYER}.gzip` : DOCKER_LAYER,
      digest: layer.digest,
      size: layer.size,
    })),
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const own = digestOf(bytes);
  const labels = manifestLabels({ digest }, layers);
  await store.write({ ref: own, size: bytes.length, digest: own, labels, content: [bytes] });
  return {
    target: { mediaType: DOCKER_MANIFEST, digest: own, size: bytes.length },
    content: imageContent({ config: digest, layers: manifest.layers }, config),
  };
}

/** Returns whether the content is compressed, and all of the content. */
async function peek(content: AsyncIterable<Buffer>): Promise<[boolean, AsyncIterable<Buffer>]> {
  const parts = content[Symbol.asyncIterator]();
  const first = await parts.next();
  async function* whole(): AsyncGenerator<Buffer> {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => parts };
  }
  return [!first.done && first.value.subarray(0, 2).equals(GZIP_MAGIC), whole()];
}

/** A name that is only a tag belongs to the name of the archive. */
function namesOf({ annotations = {} }: Descriptor, file: string): string[] {
  const name = annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'];
  const own = basename(file)
    .replace(/(\.oci)?\.(tar|tar\.gz|tgz|tar\.zst)$/, '')
    .toLowerCase();
  if (name === undefined) return [fullName(parseReference(own))];
  const isTag = annotations['io.containerd.image.name'] === undefined && !/[/:]/.test(name);
  return [fullName(parseReference(isTag ? `${own}:${name}` : name))];
}

async function nameImage(connection: Connection, name: string, { target }: LoadedImage): Promise<void> {
  const { mediaType, digest, size } = target;
  const image = { name, target: { mediaType, digest, size } };
  await connection.call(containerdApi.createImage, { image }).catch(async (error: RuntimeError) => {
    if (!error.message.includes('already exists')) throw error;
    await connection.call(containerdApi.updateImage, { image });
  });
}

/** Waits until CRI has noticed a new image, by an event. Returns the part of the image that it uses. */
async function noticed(
  { connection, clock }: Pick<LoadOptions, 'connection' | 'clock'>,
  name: string,
  { contents }: LoadedImage,
): Promise<ImageContent> {
  const deadline = clock.now() + NOTICE_TIMEOUT_MS;
  for (;;) {
    const { image } = await connection.call(cri.imageStatus, { image: { image: name } });
    const used = contents.find(({ id }) => id === image?.id);
    if (used) return used;
    if (clock.now() > deadline) {
      throw new RuntimeError('Unknown', `${name} was loaded, but the runtime cannot use it on this platform`);
    }
    await sleep(clock, POLL_MS);
  }
}
