/** Writes an image as an archive: an OCI layout that `docker load` can read, too. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Descriptor, Platform } from '../content/descriptor.ts';
import { digestOf, digitsOf } from '../content/digest.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../content/media-types.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';

export interface ArchivedImage {
  /** The full name, with a tag. */
  readonly name: string;
  readonly platform: Platform;
  readonly config: Descriptor & { readonly bytes: Buffer };
  /** Layers with the file that holds each. */
  readonly layers: readonly (Descriptor & { readonly file: string })[];
}

/** Replaces the file. Returns the digest of the manifest. */
export async function writeArchive(file: string, image: ArchivedImage): Promise<string> {
  const handle = await open(file, 'w', 0o644);
  try {
    const { entries, digest } = contentsOf(image);
    for await (const part of writeTar(entries)) await handle.appendFile(part);
    return digest;
  } finally {
    await handle.close();
  }
}

function contentsOf({ name, platform, config, layers }: ArchivedImage): { entries: TarInput[]; digest: string } {
  const manifest = json({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: plain(config),
    layers: layers.map(plain),
  });
  const digest = digestOf(manifest);
  const index = json({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [
      {
        mediaType: OCI_MANIFEST,
        digest,
        size: manifest.length,
        platform,
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      },
    ],
  });
  const dockerManifest = json([
    {
      Config: pathOf(config.digest),
      RepoTags: [name],
      Layers: layers.map((layer) => pathOf(layer.digest)),
    },
  ]);
  const blobs = new Map<string, TarInput>([
    ...layers.map((layer) => [layer.digest, layerEntry(layer)] as const),
    [config.digest, bytesEntry(pathOf(config.digest), config.bytes)],
    [digest, bytesEntry(pathOf(digest), manifest)],
  ]);
  const entries: TarInput[] = [
    bytesEntry('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    { type: 'directory', path: 'blobs', size: 0 },
    { type: 'directory', path: 'blobs/sha256', size: 0 },
    ...blobs.values(),
    bytesEntry('index.json', index),
    bytesEntry('manifest.json', dockerManifest),
  ];
  return { entries, digest };
}

const pathOf = (digest: string) => `blobs/sha256/${digitsOf(digest)}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const plain = ({ mediaType, digest, size }: Descriptor) => ({ mediaType, digest, size });

function bytesEntry(path: string, bytes: Buffer): TarInput {
  return { type: 'file', path, size: bytes.length, content: [bytes] };
}

function layerEntry({ digest, size, file }: Descriptor & { file: string }): TarInput {
  // Opened when it is its turn.
  const content = {
    [Symbol.asyncIterator]: () => createReadStream(file)[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
  };
  return { type: 'file', path: pathOf(digest), size, content };
}
