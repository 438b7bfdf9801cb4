import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { digestOf } from '../../images/content/digest.ts';
import { OCI_CONFIG, OCI_INDEX, OCI_MANIFEST } from '../../images/content/media-types.ts';
import { writeTar } from '../../images/tar/write-tar.ts';
import type { Connection } from '../calls/connection.ts';
import { containerdApi, cri } from '../calls/methods.ts';
import { loadArchive } from './load.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
async function archive(index: object, blobs: readonly Buffer[]): Promise<string> {
  const file = (path: string, content: Buffer) =>
    ({ type: 'file', path, size: content.length, content: [content] }) as const;
  const named = blobs.map((blob) => file(`blobs/sha256/${digestOf(blob).slice('sha256:'.length)}`, blob));
  const path = join(directory, 'app.tar');
  writeFileSync(path, await buffer(writeTar([file('index.json', Buffer.from(JSON.stringify(index))), ...named])));
  return path;
}

it('each index is looked at once, however often others list it', async () => {
  const config = Buffer.from(JSON.stringify({ rootfs: { type: 'layers', diff_ids: [] } }));
  const manifest = Buffer.from(
    JSON.stringify({
      ...{ schemaVersion: 2, mediaType: OCI_MANIFEST, layers: [] },
      config: { mediaType: OCI_CONFIG, digest: digestOf(config), size: config.length },
    }),
  );
  const indexOf = (blob: Buffer, mediaType: string) => {
    const item = { mediaType, digest: digestOf(blob), size: blob.length };
    return { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [item, item] };
  };
  const blobs = [config, manifest, Buffer.from(JSON.stringify(indexOf(manifest, OCI_MANIFEST)))];
  const LEVELS = 18;
  for (let level = 0; level < LEVELS; level++)
    blobs.push(Buffer.from(JSON.stringify(indexOf(blobs.at(-1)!, OCI_INDEX))));
  let labelled = 0;
  const connection = {
    async call(method: unknown) {
      if (method === containerdApi.updateContent) labelled++;
      if (method === containerdApi.contentInfo) return { info: { size: 1 } };
      return method === cri.imageStatus ? { image: { id: digestOf(config) } } : {};
    },
  } as unknown as Connection;
  const file = await archive({ ...indexOf(blobs.at(-1)!, OCI_INDEX) }, blobs);
  const names = await loadArchive(file, { connection, clock: new ControlledClock(), unpacks: false });
  expect(names).toEqual(Array(2).fill('docker.io/library/app:latest'));
  // The manifest, and the indexes.
  expect(labelled).toBe(2 + LEVELS);
});
