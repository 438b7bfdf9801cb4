/** The image store in a directory. */
import { basename, join } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { syncDirectory } from '../../../base/files/own/files.ts';
import { PRIVATE_DIRECTORY, TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import {
  createReadStream,
  makeDirectory,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from '../../../base/files/own/own-files.ts';
import { processIdentity } from '../../../base/programs/process-identity.ts';
import type { Tools } from '../../../base/tools.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Image, RegistryCredentials } from '../../runtime/runtime.ts';
import { type LoadedImage, readArchive } from '../archive/read-archive.ts';
import { type ConfigDocument, parseConfig } from '../content/config.ts';
import type { Platform } from '../content/descriptor.ts';
import { isDigest } from '../content/digest.ts';
import { MAX_DOCUMENT_BYTES } from '../content/documents.ts';
import type { ImageConfig } from '../image-config.ts';
import type { ContainerRoot, ImageStore } from '../image-store.ts';
import { fullName, type ImageReference, parseReference, repositoryName } from '../reference.ts';
import { ContainerRoots } from './container-roots.ts';
import { listIfThere } from './files.ts';
import { Ingest } from './ingest.ts';
import { StoreLayout } from './layout.ts';
import { type NamedImage, Names } from './names.ts';
import { ShiftedRoots } from './shifted-roots.ts';
import { StoreLock } from './store-lock.ts';
import { UnpackedRoots } from './unpacked-roots.ts';

/** Source that images are pulled from. */
export interface ImageSource {
  /**
   * Takes an image into an ingest. Blobs that `has` knows may be left out. `digest` of the result is that of the image
   * or index that the name stands for.
   */
  pull(request: PullRequest): Promise<{ readonly digest: string; readonly image: Omit<LoadedImage, 'names'> }>;
}

export interface PullRequest {
  readonly reference: ImageReference;
  readonly credentials: RegistryCredentials | undefined;
  readonly platform: Platform;
  readonly ingest: Ingest;
  has(digest: string): Promise<boolean>;
}

export interface DirectoryStoreOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly directory: string;
  readonly source: ImageSource;
  readonly platform: Platform;
  /** True when this process is root: then files have owners, and roots are overlay mounts. */
  readonly isRoot: boolean;
}

export class DirectoryImageStore implements ImageStore {
  readonly #layout: StoreLayout;
  readonly #names: Names;
  readonly #lock: StoreLock;
  readonly #unpacked: UnpackedRoots;
  readonly #shifted = new ShiftedRoots();
  readonly #roots: ContainerRoots;

  private constructor(private readonly options: DirectoryStoreOptions) {
    const unpackOptions = { setsOwners: options.isRoot };
    this.#layout = new StoreLayout(options.directory);
    this.#names = new Names(this.#layout);
    this.#lock = new StoreLock(this.#layout, options.clock);
    this.#unpacked = new UnpackedRoots(this.#layout, unpackOptions);
    this.#roots = new ContainerRoots(this.#layout, unpackOptions, options.log);
  }

  /** Creates the directory if it does not exist, and removes leftovers of processes that have ended. */
  static async open(options: DirectoryStoreOptions): Promise<DirectoryImageStore> {
    const store = new DirectoryImageStore(options);
    const layout = store.#layout;
    for (const path of [options.directory, layout.roots()]) await makeDirectory(path, TRAVERSED_DIRECTORY);
    for (const path of [layout.blobs(), layout.names()]) await makeDirectory(path, PRIVATE_DIRECTORY);
    await Ingest.removeLeftovers(layout);
    return store;
  }

  async list(): Promise<readonly Image[]> {
    return imagesOf(await this.#names.all());
  }

  async find(reference: string): Promise<Image | undefined> {
    const images = await this.list();
    if (isDigest(reference)) return images.find(({ id }) => id === reference);
    const name = fullName(parseReference(reference));
    return images.find(({ tags, digests }) => tags.includes(name) || digests.includes(name));
  }

  async pull(text: string, credentials: RegistryCredentials | undefined): Promise<string> {
    const reference = parseReference(text);
    return Ingest.run(this.#layout, async (ingest) => {
      const { digest, image } = await this.options.source.pull({
        reference,
        credentials,
        platform: this.options.platform,
        ingest,
        has: async (blob) => (await stat(this.#layout.blob(blob)).catch(ifMissing)) !== undefined,
      });
      const tagged = reference.digest === undefined ? [fullName(reference)] : [];
      const names = [...tagged, `${repositoryName(reference)}@${digest}`];
      return this.#commit(ingest, { ...image, names });
    });
  }

  async load(archive: string): Promise<readonly string[]> {
    const stem = basename(archive)
      .replace(/\.(?:tar|tgz|tar\.gz)$/, '')
      .toLowerCase();
    const fallbackName = `localhost/${stem.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'image'}`;
    return Ingest.run(this.#layout, async (ingest) => {
      const options = { platform: this.options.platform, fallbackName };
      const images = await readArchive(ingest, createReadStream(archive), options);
      for (const image of images) {
        const repositories = new Set(image.names.map((name) => repositoryName(parseReference(name))));
        const digests = [...repositories].map((repository) => `${repository}@${image.digest}`);
        await this.#commit(ingest, { ...image, names: [...image.names, ...digests] });
      }
      return images.flatMap(({ names }) => names);
    });
  }

  async remove(reference: string): Promise<void> {
    const image = await this.find(reference);
    if (!image) return;
    await this.#lock.run(async () => {
      const users = await this.#roots.usersOf(image.id);
      if (users.length > 0) {
        throw new RuntimeError('Unknown', `image ${image.tags[0] ?? image.id} is used by ${users.join(', ')}`);
      }
      for (const name of [...image.tags, ...image.digests]) await this.#names.delete(name);
      await this.#unpacked.remove(image.id);
      await this.#removeUnnamedBlobs();
    });
  }

  async usage(): Promise<{ readonly bytes: number; readonly directory: string }> {
    const blobs = await listIfThere(this.#layout.blobs());
    const sizes = await Promise.all(blobs.map((name) => stat(join(this.#layout.blobs(), name)).catch(ifMissing)));
    const bytes = sizes.reduce((sum, found) => sum + (found?.size ?? 0), await this.#unpacked.bytes());
    return { bytes, directory: this.options.directory };
  }

  async config(imageId: string): Promise<ImageConfig> {
    return (await this.#configDocument(await this.#named(imageId))).config;
  }

  async unpack(imageId: string): Promise<string> {
    const image = await this.#named(imageId);
    const { diffIds } = await this.#configDocument(image);
    if (diffIds.length !== image.layers.length) {
      throw new RuntimeError(
        'Unknown',
        `image ${imageId} has ${image.layers.length} layers and names ${diffIds.length}`,
      );
    }
    const layers = image.layers.map((digest, position) => ({ digest, diffId: diffIds[position]! }));
    return this.#unpacked.unpack(imageId, layers);
  }

  async shiftedLayer(imageId: string, base: number): Promise<string> {
    const files = await this.unpack(imageId);
    const { boot } = await processIdentity(process.pid);
    return this.#shifted.layer(this.#layout.root(imageId), files, base, boot);
  }

  async createRoot(imageId: string, directory: string): Promise<ContainerRoot> {
    await this.#lock.run(async () => {
      await this.#named(imageId);
      await this.#roots.use(imageId, directory);
    });
    return this.#roots.create(imageId, await this.unpack(imageId), directory);
  }

  async removeRoot(directory: string): Promise<void> {
    await this.#roots.remove(directory);
  }

  async #named(imageId: string): Promise<NamedImage> {
    const image = (await this.#names.all()).find(({ id }) => id === imageId);
    if (!image) throw new RuntimeError('NotFound', `image ${imageId} is not on this node`);
    return image;
  }

  async #configDocument({ id }: NamedImage): Promise<ConfigDocument> {
    return this.#readConfig(`the configuration of image ${id}`, id);
  }

  /** Reads a configuration, whose size may differ from the one in the manifest. */
  async #readConfig(what: string, id: string): Promise<ConfigDocument> {
    const file = this.#layout.blob(id);
    if ((await stat(file)).size > MAX_DOCUMENT_BYTES) throw new RuntimeError('Unknown', `${what} is too large`);
    return parseConfig(what, await readFile(file));
  }

  /** Puts blobs and names in place. Returns the id. */
  async #commit(ingest: Ingest, { names, digest, manifest }: LoadedImage): Promise<string> {
    const id = manifest.config.digest;
    const layers = manifest.layers.map((layer) => layer.digest);
    const wanted = new Set([digest, id, ...layers]);
    return this.#lock.run(async () => {
      for (const blob of wanted) await this.#place(ingest, blob);
      await syncDirectory(this.#layout.blobs());
      const sizes = await Promise.all([...wanted].map((blob) => stat(this.#layout.blob(blob))));
      const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
      const { config } = await this.#readConfig(`the configuration of ${names[0]}`, id);
      for (const name of names) {
        await this.#names.set({ name, id, manifest: digest, layers, bytes, user: config.user }, ingest.directory);
      }
      return id;
    });
  }

  async #place(ingest: Ingest, digest: string): Promise<void> {
    const target = this.#layout.blob(digest);
    // An existing blob is replaced: it may be damaged.
    if (ingest.blobs.delete(digest)) await rename(ingest.path(digest), target);
    else if (!(await stat(target).catch(ifMissing))) {
      throw new RuntimeError('Unknown', `blob ${digest} is missing; try again`);
    }
  }

  async #removeUnnamedBlobs(): Promise<void> {
    const named = new Set((await this.#names.all()).flatMap(({ id, manifest, layers }) => [id, manifest, ...layers]));
    for (const name of await readdir(this.#layout.blobs())) {
      if (!named.has(`sha256:${name}`)) await rm(join(this.#layout.blobs(), name), { force: true });
    }
  }
}

/** Names of the same image become one. */
function imagesOf(named: readonly NamedImage[]): readonly Image[] {
  const byId = new Map<string, NamedImage[]>();
  for (const image of named) byId.set(image.id, [...(byId.get(image.id) ?? []), image]);
  return [...byId.values()].map((images) => {
    const { id, bytes, user } = images[0]!;
    const names = images.map(({ name }) => name);
    return {
      id,
      tags: names.filter((name) => !name.includes('@')),
      digests: names.filter((name) => name.includes('@')),
      bytes,
      user: userOf(user),
      isPinned: false,
    };
  });
}

/** `user:group` is the user; a number is one. */
function userOf(user: string | undefined): number | string | undefined {
  const name = user?.split(':')[0];
  if (name === undefined || name === '') return undefined;
  return /^\d+$/.test(name) ? Number(name) : name;
}
