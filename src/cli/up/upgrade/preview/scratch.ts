/** Private directories for the keys of a preview: in memory, where the system has a file system there. */
import { constants } from 'node:fs';
import { access, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const NAME = /^qd-preview-(\d+)-/;

/** Creates one, which the caller removes, and removes those of programs that were killed. */
export async function scratchDirectory(): Promise<string> {
  const isUsable = await access(IN_MEMORY, constants.W_OK).then(
    () => true,
    () => false,
  );
  const folder = isUsable ? IN_MEMORY : tmpdir();
  await removeLeft(folder);
  return mkdtemp(join(folder, `qd-preview-${process.pid}-`));
}

async function removeLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(folder, name);
    const owner = await stat(path).catch(() => undefined);
    if (owner?.uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
