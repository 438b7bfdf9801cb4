import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mountSmallDisk, scratchDirectories } from '../../../../test/support/store-directories.ts';
import { digestOf } from '../content/digest.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';
import { StoreLayout } from './layout.ts';
import { UnpackedRoots } from './unpacked-roots.ts';

const directory = await scratchDirectories();
const disk = directory();
const isMounted = mountSmallDisk(disk);
const layout = new StoreLayout(disk);
mkdirSync(layout.roots(), { recursive: true });
const MEBIBYTE = 2 ** 20;
/** Much more than the disk has, in some kilobytes. */
const ZEROS = Buffer.alloc(64 * MEBIBYTE);

/** Puts a layer of these entries on the disk, followed by `rest`. */
async function layerOf(entries: readonly TarInput[], rest = Buffer.alloc(0)) {
  const content = Buffer.concat([await buffer(writeTar(entries)), rest]);
  const blob = gzipSync(content);
  expect(blob.length).toBeLessThan(MEBIBYTE);
  const digest = digestOf(blob);
  mkdirSync(dirname(layout.blob(digest)), { recursive: true });
  writeFileSync(layout.blob(digest), blob);
  return { digest, diffId: digestOf(content) };
}

const unpack = (layers: Awaited<ReturnType<typeof layerOf>>[]) =>
  new UnpackedRoots(layout, { setsOwners: false }).unpack(digestOf(Buffer.from('image')), layers);
const file = (path: string, content: Buffer): TarInput => ({
  ...{ type: 'file', path, size: content.length, content: [content] },
});

describe.skipIf(!isMounted)('a small layer that expands to more than the disk has room for', () => {
  it.each<[string, () => ReturnType<typeof layerOf>]>([
    ['in a file', () => layerOf([file('bomb', ZEROS)])],
    ['in nothing that is written', () => layerOf([], ZEROS)],
    ['in files of one name', () => layerOf(Array.from({ length: 16 }, () => file('a', ZEROS.subarray(0, MEBIBYTE))))],
  ])('%s is rejected, and nothing is left', async (_, make) => {
    const layer = await make();
    await expect(unpack([layer])).rejects.toThrow(`layer ${layer.digest} needs more space than the disk of ${disk}`);
    expect(readdirSync(layout.ingest())).toEqual([]);
  });

  it('leaves a part of the disk to others', async () => {
    const layers = [await layerOf([file('a', ZEROS.subarray(0, 4 * MEBIBYTE))])];
    layers.push(await layerOf([file('b', ZEROS.subarray(0, 3.5 * MEBIBYTE))]));
    await expect(unpack(layers)).rejects.toThrow('needs more space');
    await expect(unpack(layers.slice(0, 1))).resolves.toContain(disk);
  });
});
