import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeOldReleases } from './old-releases.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qd-releases-'));
});
afterEach(() => rm(folder, { recursive: true }));

const program = (name: string) => join(folder, name, 'node_modules', 'quarterdeck', 'bin', 'qd.cjs');

/** Makes a release that was chosen so many hours ago. */
const install = async (name: string, hours: number, isComplete = true) => {
  const directory = join(folder, name);
  await mkdir(directory);
  const chosen = join(directory, isComplete ? 'complete' : 'package.json');
  await writeFile(chosen, '');
  const time = new Date(NOW - hours * HOUR_MS);
  for (const path of [chosen, directory]) await utimes(path, time, time);
};
const remove = (...kept: string[]) => removeOldReleases({ folder, kept, now: NOW });

test('the present release and the one before it stay, also in the text of a unit, and older ones go', async () => {
  for (const [hours, name] of ['now', 'before', 'older', 'oldest'].entries()) await install(name, 2 * hours + 2);
  const unit = `[Service]\nExecStart="${process.execPath}" "${program('before')}" up\n`;
  expect(await remove(program('now'), unit)).toHaveLength(2);
  expect((await readdir(folder)).sort()).toEqual(['before', 'now']);
});

test('a release that was chosen a moment ago stays: it may be that of another cluster', async () => {
  await install('chosen', 0.9);
  await install('installing', 0.1, false);
  await install('interrupted', 30, false);
  await remove();
  expect((await readdir(folder)).sort()).toEqual(['chosen', 'installing']);
});

test('a release whose name only begins like that of a kept one goes', async () => {
  await install('0123', 2);
  await install('01234', 2);
  await remove(program('01234'));
  expect(await readdir(folder)).toEqual(['01234']);
});

test('without any release, nothing happens', async () => {
  expect(await removeOldReleases({ folder: join(folder, 'none'), kept: [], now: NOW })).toEqual([]);
});
