/** Builds the programs of other releases, for tests of two releases beside each other. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

/** What a build needs; `node_modules` is linked. */
const SOURCES = ['src', 'scripts', 'bin', 'package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'LICENSE'];

const BUILD = `await (await import('./scripts/build.mjs')).build({ keepsCode: false, hasMaps: false })`;

export interface BuiltRelease {
  readonly version: string;
  readonly level: number;
  /** The folder of its programs. */
  readonly dist: string;
}

export interface ReleaseSource {
  /** A tag or commit; default: the present sources. */
  readonly ref?: string | undefined;
  /** The version and the level that are written into its package; default: its own. */
  readonly release?: Pick<BuiltRelease, 'version' | 'level'>;
  /** Texts that are replaced in its sources, by path: each must be there. */
  readonly edits?: Readonly<Record<string, readonly [from: string, to: string]>>;
}

/** The newest tag of a release that the present sources follow; undefined while there is none. */
export async function lastTag(): Promise<string | undefined> {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'];
  const { stdout } = await execute('git', describe, { cwd: root }).catch(() => ({ stdout: '' }));
  return stdout.trim() || undefined;
}

/** The program that the tests of this run use. */
export async function presentRelease(): Promise<BuiltRelease> {
  const { version, level } = await packageIn(root);
  return { version, level, dist: join(root, 'dist') };
}

/** Builds a release in a folder, which is created. */
export async function buildRelease({ ref, release, edits = {} }: ReleaseSource, folder: string): Promise<BuiltRelease> {
  await mkdir(folder);
  if (ref === undefined)
    for (const path of SOURCES) await cp(join(root, path), join(folder, path), { recursive: true });
  else await execute('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', ref, folder], { cwd: root });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, [from, to]] of Object.entries(edits)) {
    const text = await readFile(join(folder, path), 'utf8');
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    await writeFile(join(folder, path), text.replace(from, to));
  }
  const packaged = { ...(await packageIn(folder)), ...release };
  await writeFile(join(folder, 'package.json'), JSON.stringify(packaged));
  await execute(process.execPath, ['--input-type=module', '--eval', BUILD], { cwd: folder });
  // Releases before the first that has a level are of level 0.
  const { version, level = 0 } = packaged;
  return { version, level, dist: join(folder, 'dist') };
}

async function packageIn(folder: string): Promise<{ readonly version: string; readonly level: number }> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}
