import { rename } from 'node:fs/promises';
import type { Clock } from '../../time/clock.ts';
import { ifMissing } from '../if-missing.ts';

/** Renames a file or folder that has been replaced. Resolves with its new path; undefined when there is none. */
export async function moveAside(path: string, clock: Clock): Promise<string | undefined> {
  const aside = `${path}.before-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`;
  try {
    await rename(path, aside);
    return aside;
  } catch (error) {
    return ifMissing(error);
  }
}
