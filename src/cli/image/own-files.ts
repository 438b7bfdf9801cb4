/** The files of an image of Quarterdeck: Node, the libraries that it needs, and the program with its packages. */
import { execFile } from 'node:child_process';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { ImageFile } from '../../node/images/build/build-image.ts';
import { CliError } from '../output/cli-error.ts';

export const NODE_PATH = '/usr/local/bin/node';
export const PROGRAM_PATH = '/opt/quarterdeck';

interface OwnFilesOptions {
  /** The Node that runs. */
  readonly node: string;
  /** The folder of the package: it has `package.json` and `dist`. */
  readonly packageFolder: string;
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Packages that are not part of the bundle. */
const EXTERNAL = ['lmdb'];
const PASSWD = 'root:x:0:0:root:/root:/bin/false\n';

export async function ownFiles({ node, packageFolder }: OwnFilesOptions): Promise<readonly ImageFile[]> {
  const packages = await packagesOf(packageFolder);
  const program = [
    ...(await filesBelow(join(packageFolder, 'dist'))),
    ...(await filesBelow(join(packageFolder, 'bin'))),
    join(packageFolder, 'package.json'),
  ].map((file) => ({ file, path: join(PROGRAM_PATH, relative(packageFolder, file)) }));
  const modules = (
    await Promise.all(
      [...packages].map(async ([name, folder]) =>
        (
          await filesBelow(folder)
        ).map((file) => ({
          file,
          path: join(PROGRAM_PATH, 'node_modules', name, relative(folder, file)),
        })),
      ),
    )
  ).flat();
  const native = modules.filter(({ path }) => path.endsWith('.node') && !path.includes('musl')).map(({ file }) => file);
  const libraries = await librariesOf([await realpath(node), ...native]);
  return [
    { type: 'directory', path: '/tmp', mode: 0o1777 },
    { type: 'directory', path: '/root', mode: 0o700 },
    { type: 'bytes', path: '/etc/passwd', bytes: Buffer.from(PASSWD) },
    { type: 'copy', path: NODE_PATH, source: node, mode: 0o755 },
    ...libraries.map((path) => ({ type: 'copy', path, source: path }) as const),
    ...[...program, ...modules].map(({ file, path }) => ({ type: 'copy', path, source: file }) as const),
  ];
}

/** The folder of each package by name, with everything that it depends on and that is installed. */
async function packagesOf(packageFolder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const add = async (name: string, from: string, isOptional: boolean): Promise<void> => {
    if (found.has(name)) return;
    const folder = await findPackage(name, from);
    if (folder === undefined) {
      if (isOptional) return;
      throw new CliError(`the package ${name} is not installed; run npm install`);
    }
    found.set(name, folder);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
    const optional = manifest.optionalDependencies ?? {};
    for (const each of Object.keys({ ...manifest.dependencies, ...optional }))
      await add(each, folder, each in optional);
  };
  for (const name of EXTERNAL) await add(name, packageFolder, false);
  return found;
}

/** As Node finds it: in `node_modules` of the folder, or of one above. */
async function findPackage(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (await stat(join(candidate, 'package.json')).catch(() => undefined)) return realpath(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !relative(folder, file).startsWith('node_modules/'))
    .sort();
}

/** Absolute paths of the libraries that programs load, the loader included. */
async function librariesOf(programs: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const program of programs) {
    let listing: string;
    try {
      listing = (await promisify(execFile)('ldd', [program])).stdout;
    } catch (error) {
      // A static program has none.
      if (/not a dynamic executable|statically linked/.test(String((error as { stderr?: string }).stderr))) continue;
      throw new CliError(`ldd cannot say which libraries ${program} needs`, { cause: error });
    }
    for (const [, path] of listing.matchAll(/(?:=>\s+|^\s*)(\/\S+)\s+\(0x/gm)) found.add(path!);
  }
  return [...found].sort();
}
