import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { ownDirectory } from './own-directory.ts';

let home: string;
let volumes: string;
beforeEach(async () => {
  home = temporaryDirectory();
  volumes = join(home, 'own', 'volumes');
});
const directory = (path: string) => ({ node: 'node-1', path });

it('is the path of the volume, in the data directory and elsewhere', async () => {
  for (const path of [join(volumes, 'node-1', 'pv-1'), '/mnt/fast/node-1/pv-1']) {
    expect(await ownDirectory(volumes)(directory(path))).toBe(path);
    expect(await ownDirectory(undefined)(directory(path))).toBe(path);
  }
});

it('is below the data directory after that was moved', async () => {
  const own = join(volumes, 'node-1', 'pv-1');
  await mkdir(own, { recursive: true });
  expect(await ownDirectory(volumes)(directory('/moved/away/volumes/node-1/pv-1'))).toBe(own);
});

it('is never in the data directory of another cluster, also where a copy has not used the volume yet', async () => {
  const original = join(home, 'original');
  await mkdir(join(original, 'volumes', 'node-1', 'pv-1'), { recursive: true });
  await writeFile(join(original, 'cluster.json'), '{}');
  expect(await ownDirectory(volumes)(directory(join(original, 'volumes', 'node-1', 'pv-1')))).toBe(
    join(volumes, 'node-1', 'pv-1'),
  );
});
