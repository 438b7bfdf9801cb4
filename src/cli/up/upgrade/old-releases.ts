/** Removes releases that nothing on this machine needs any more. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { readIfThere } from '../../../base/files/own/files.ts';
import { argumentsOf, runningPids } from '../../../base/programs/running-processes.ts';
import { installedUnits } from '../../clusters/service/units.ts';
import { COMPLETE } from './package.ts';

export interface OldReleases {
  /** Where package files are installed. */
  readonly folder: string;
  /** Texts that name programs: the one that runs now, and the one before it. */
  readonly kept: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** An upgrade of another cluster may have installed a release that it has not started yet. */
const MIN_AGE_MS = 3_600_000;

/** Resolves with the directories that were removed. Programs of other clusters, of keepers and of services stay. */
export async function removeOldReleases({ folder, kept, now }: OldReleases): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0) return [];
  const used = [...kept, ...(await runningPrograms()), ...(await programsOfUnits())];
  const removed: string[] = [];
  for (const name of names) {
    const directory = join(folder, name);
    if (used.some((text) => text.includes(directory + sep)) || !(await isOlder(directory, now))) continue;
    await rm(directory, { recursive: true, force: true });
    removed.push(directory);
  }
  return removed;
}

async function isOlder(directory: string, now: number): Promise<boolean> {
  const { mtimeMs } = await stat(join(directory, COMPLETE)).catch(() => stat(directory));
  return now - mtimeMs > MIN_AGE_MS;
}

async function runningPrograms(): Promise<readonly string[]> {
  const found = await Promise.all((await runningPids()).map(argumentsOf));
  return found.flat();
}

async function programsOfUnits(): Promise<readonly string[]> {
  const units = await installedUnits();
  return Promise.all(units.map(async ({ file }) => (await readIfThere(file)) ?? ''));
}
