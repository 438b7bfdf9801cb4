/** A program that differs from the built one in its network daemon, as the next release may. */
import { appendFile, cp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Resolves with the folder of the program. Node's compile cache of the built one must not be used with it. */
export async function otherRelease(folder: string): Promise<string> {
  const dist = join(folder, 'dist');
  await cp(join(ROOT, 'dist'), dist, { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const names = await readdir(dist);
  const daemon = names.find((name) => /^qd\.network-.*\.js$/.test(name))!;
  const other = daemon.replace('.js', '-other.js');
  await rename(join(dist, daemon), join(dist, other));
  await appendFile(join(dist, other), '\n// another release\n');
  for (const name of names.filter((each) => !each.endsWith('.js') && !/\.(json|map|d\.ts)$/.test(each))) {
    await rm(join(dist, name), { recursive: true });
  }
  for (const name of names.filter((each) => /^qd\.main-.*\.js$/.test(each))) {
    const text = await readFile(join(dist, name), 'utf8');
    if (!text.includes(daemon)) throw new Error(`${name} does not name the daemon`);
    await writeFile(join(dist, name), text.replaceAll(daemon, other));
  }
  return dist;
}
