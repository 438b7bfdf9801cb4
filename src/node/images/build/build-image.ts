/** Makes an image from files, and writes it as an archive. */
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { writeArchive } from '../archive/write-archive.ts';
import type { Descriptor } from '../content/descriptor.ts';
import { Digester, digestOf } from '../content/digest.ts';
import { OCI_CONFIG, OCI_LAYER, OCI_LAYER_GZIP } from '../content/media-types.ts';
import { platformOf } from '../content/platform.ts';
import type { ImageConfig } from '../image-config.ts';
import { fullName, parseReference } from '../reference.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';

/** A file of an image. Directories on its path are made. */
export type ImageFile = { readonly path: string; readonly mode?: number } & (
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** File that is copied from this machine, with its permissions unless `mode` sets others. */
  | { readonly type: 'copy'; readonly source: string }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'directory' }
);

export interface ImageSpec {
  readonly name: string;
  readonly files: readonly ImageFile[];
  readonly config: Partial<ImageConfig>;
  /** Architecture as Node names it. */
  readonly architecture: string;
  /** True to compress the layer. Default: false. */
  readonly compress?: boolean;
}

export interface BuiltImage {
  /** The full name. */
  readonly name: string;
  readonly id: string;
  /** Digest of the manifest. */
  readonly digest: string;
}

/** Levels above it take several times as long for a few percent. */
const GZIP_LEVEL = 1;
const PERMISSIONS = 0o7777;

/** Equal files give equal images, whenever they are built. Replaces `archive`. */
export async function buildImage(spec: ImageSpec, archive: string): Promise<BuiltImage> {
  const name = fullName(parseReference(spec.name));
  const scratch = await mkdtemp(join(dirname(archive), '.image-'));
  try {
    const { layer, diffId } = await writeLayer(spec, join(scratch, 'layer'));
    const platform = platformOf(spec.architecture);
    const bytes = Buffer.from(JSON.stringify(configDocument(spec.config, platform, diffId)));
    const config = { mediaType: OCI_CONFIG, digest: digestOf(bytes), size: bytes.length, bytes };
    const digest = await writeArchive(archive, { name, platform, config, layers: [layer] });
    return { name, id: config.digest, digest };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function writeLayer({ files, compress = false }: ImageSpec, file: string) {
  const content = new Digester();
  const stored = new Digester();
  async function* tar(): AsyncGenerator<Buffer> {
    for await (const part of writeTar(entriesOf(files))) {
      content.update(part);
      yield part;
    }
  }
  const source = Readable.from(tar(), { objectMode: false });
  const bytes = compress ? source.compose(createGzip({ level: GZIP_LEVEL })) : source;
  const handle = await open(file, 'w');
  try {
    for await (const part of bytes) {
      stored.update(part);
      await handle.appendFile(part);
    }
  } finally {
    await handle.close();
  }
  const size = stored.bytes;
  const mediaType = compress ? OCI_LAYER_GZIP : OCI_LAYER;
  const layer: Descriptor & { file: string } = { mediaType, digest: stored.digest(), size, file };
  return { layer, diffId: content.digest() };
}

async function* entriesOf(files: readonly ImageFile[]): AsyncGenerator<TarInput> {
  const made = new Set<string>(['.']);
  for (const file of files) {
    const path = posix.normalize(file.path).replace(/^\/+|\/+$/g, '');
    yield* parents(path, made);
    if (file.type === 'directory') {
      made.add(path);
      yield { type: 'directory', path, size: 0, mode: file.mode };
    } else yield await entryOf(file, path);
  }
}

function* parents(path: string, made: Set<string>): Generator<TarInput> {
  const parent = posix.dirname(path);
  if (made.has(parent)) return;
  yield* parents(parent, made);
  made.add(parent);
  yield { type: 'directory', path: parent, size: 0 };
}

async function entryOf(file: Exclude<ImageFile, { type: 'directory' }>, path: string): Promise<TarInput> {
  const mode = file.mode === undefined ? {} : { mode: file.mode };
  if (file.type === 'link') return { type: 'symlink', path, size: 0, mode: 0o777, linkTarget: file.target };
  if (file.type === 'bytes') return { type: 'file', path, size: file.bytes.length, content: [file.bytes], ...mode };
  const { size, mode: own } = await stat(file.source);
  return { type: 'file', path, size, mode: own & PERMISSIONS, content: createReadStream(file.source), ...mode };
}

function configDocument(config: Partial<ImageConfig>, platform: object, diffId: string): object {
  const { user, env, entrypoint, args, workingDirectory, stopSignal, volumes, labels } = config;
  return {
    ...platform,
    config: {
      User: user || undefined,
      Env: env,
      Entrypoint: entrypoint,
      Cmd: args,
      WorkingDir: workingDirectory || undefined,
      StopSignal: stopSignal || undefined,
      Volumes: volumes ? Object.fromEntries(volumes.map((volume) => [volume, {}])) : undefined,
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
  };
}
