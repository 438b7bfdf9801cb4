import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { readTar } from '../../src/node/images/tar/read-tar.ts';
import { type TarInput, writeTar } from '../../src/node/images/tar/write-tar.ts';

/** Writes the image of an archive as an old `docker save` would: without an OCI layout, compressed, under several names. */
export async function writeDockerArchive(source: string, target: string, names: readonly string[]): Promise<void> {
  const files = new Map<string, Buffer>();
  for await (const { type, path, content } of readTar(createReadStream(source))) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    if (type === 'file') files.set(path, Buffer.concat(parts));
  }
  const [{ Config, Layers }] = JSON.parse(String(files.get('manifest.json'))) as [{ Config: string; Layers: string[] }];
  const file = (path: string, bytes: Buffer = Buffer.alloc(0)): TarInput => ({
    type: 'file',
    path,
    size: bytes.length,
    content: [bytes],
  });
  const layers = Layers.map((_, at) => `layer${at}/layer.tar`);
  const manifest = names.map((name) => ({ Config: 'config.json', RepoTags: [name], Layers: layers }));
  const entries = [
    ...Layers.map((path, at) => file(`layer${at}/layer.tar`, files.get(path))),
    file('config.json', files.get(Config)),
    file('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ];
  await pipeline(Readable.from(writeTar(entries), { objectMode: false }), createGzip(), createWriteStream(target));
}
