/** Archives with more names and descriptors than any image has. */

import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { digestOf } from '../content/digest.ts';
import { OCI_CONFIG, OCI_INDEX, OCI_MANIFEST } from '../content/media-types.ts';
import type { Ingest, IngestedBlob } from '../store/ingest.ts';
import { writeTar } from '../tar/write-tar.ts';
import { readArchive } from './read-archive.ts';

const platform = { os: 'linux', architecture: 'amd64' };

/** Keeps blobs in memory, and counts how often one is read. */
class MemoryIngest {
  readonly directory = tmpdir();
  readonly #blobs = new Map<string, Buffer>();
  reads = 0;

  async add(content: AsyncIterable<Uint8Array>): Promise<IngestedBlob> {
    const bytes = await buffer(content);
    this.#blobs.set(digestOf(bytes), bytes);
    return { digest: digestOf(bytes), size: bytes.length };
  }

  async document(_: string, digest: string): Promise<Buffer> {
    this.reads++;
    return this.#blobs.get(digest)!;
  }
}

const blobPath = (bytes: Buffer) => `blobs/sha256/${digestOf(bytes).slice('sha256:'.length)}`;

async function read(index: object, blobs: readonly Buffer[], ingest = new MemoryIngest()) {
  const files = [['index.json', Buffer.from(JSON.stringify(index))], ...blobs.map((each) => [blobPath(each), each])];
  const entries = (files as [string, Buffer][]).map(
    ([path, content]) => ({ type: 'file', path, size: content.length, content: [content] }) as const,
  );
  const options = { platform, fallbackName: 'app' };
  return readArchive(ingest as unknown as Ingest, writeTar(entries), options);
}

const config = { mediaType: OCI_CONFIG, digest: `sha256:${'0'.repeat(64)}`, size: 1 };
const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers: [] }));
const descriptor = { mediaType: OCI_MANIFEST, digest: digestOf(manifest), size: manifest.length };
const indexOf = (manifests: readonly object[]) => ({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });

it('an archive takes linear time for many descriptors of one name', async () => {
  const timeFor = async (count: number) => {
    const other = { ...descriptor, platform: { os: 'linux', architecture: 's390x' } };
    const manifests = [...Array(count).fill(other), { ...descriptor, platform }];
    const before = process.cpuUsage();
    expect(await read(indexOf(manifests), [manifest])).toMatchObject([{ digest: descriptor.digest }]);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // The least of several: a collection of garbage that other tests left can take longer than the work.
  const leastTimeFor = async (count: number) =>
    Math.min(await timeFor(count), await timeFor(count), await timeFor(count));
  await timeFor(1_000);
  const few = await leastTimeFor(8_000);
  // Quadratic time would be fifteen times as much.
  expect(await leastTimeFor(32_000)).toBeLessThan(few * 8);
});

it('reads an index once that many names have', async () => {
  const inner = Buffer.from(JSON.stringify(indexOf([{ ...descriptor, platform }])));
  const named = (name: string) => ({
    ...{ mediaType: OCI_INDEX, digest: digestOf(inner), size: inner.length, platform },
    annotations: { 'org.opencontainers.image.ref.name': name },
  });
  const ingest = new MemoryIngest();
  const names = Array.from({ length: 100 }, (_, index) => `v${index}`);
  const images = await read(indexOf(names.map(named)), [inner, manifest], ingest);
  expect(images.map(({ digest }) => digest)).toEqual(names.map(() => descriptor.digest));
  expect(ingest.reads).toBe(3);
});
