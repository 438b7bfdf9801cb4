/** Overlay mounts: a container's writes go into a separate directory, above the shared files of its image. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFile } from '../../../base/files/own/own-files.ts';

export interface Overlay {
  readonly lower: string;
  readonly upper: string;
  readonly work: string;
  readonly target: string;
}

const run = promisify(execFile);

/** Reports whether these paths can be expressed in the options of a mount. */
export function canMountOverlay({ lower, upper, work }: Overlay): boolean {
  return ![lower, upper, work].some((path) => /[:,\\]/.test(path));
}

/** Rejects when the kernel or the file system does not offer it. */
export async function mountOverlay(
  { lower, upper, work, target }: Overlay,
  further: readonly string[] = [],
): Promise<void> {
  const options = [`lowerdir=${lower}`, `upperdir=${upper}`, `workdir=${work}`, ...further];
  await run('mount', ['-t', 'overlay', 'overlay', '-o', options.join(','), target]);
}

/** Detaches it at once, also when something in it is open. */
export async function unmount(target: string): Promise<void> {
  await run('umount', ['--lazy', target]);
}

export async function isMounted(target: string): Promise<boolean> {
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const wanted = target.replace(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return mounts.split('\n').some((line) => line.split(' ')[4] === wanted);
}
