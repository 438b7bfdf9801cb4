/** The release that a cluster is to run with: the directory of a package, or a file that npm installs beside the others. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Release } from '../../../api/release.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { CliError } from '../../output/cli-error.ts';

const execute = promisify(execFile);
const NAME = 'quarterdeck';

export interface PackagedRelease extends Release {
  /** The file that Node runs. */
  readonly program: string;
}

/** `folder`: where package files are installed, each in a directory of its own. */
export async function releaseIn(path: string, folder: string): Promise<PackagedRelease> {
  const given = resolve(path);
  const found = await stat(given).catch((cause: unknown) => {
    throw new CliError(`${path} cannot be read`, { cause });
  });
  return readPackage(found.isDirectory() ? given : await install(given, folder));
}

/** Resolves with the directory of the package. */
async function install(file: string, folder: string): Promise<string> {
  const { mtimeMs, size } = await stat(file);
  const prefix = join(folder, `${Math.round(mtimeMs)}-${size}`);
  await makeDirectories(prefix, 0o700);
  const options = ['--prefix', prefix, '--no-audit', '--no-fund', '--no-save', '--no-package-lock'];
  await execute('npm', ['install', ...options, file]).catch((cause: { stderr?: string }) => {
    const [line = 'npm failed'] = cause.stderr?.split('\n').filter((each) => /^npm (error|ERR!) \S/.test(each)) ?? [];
    throw new CliError(`${file} cannot be installed: ${line}`, { cause });
  });
  return join(prefix, 'node_modules', NAME);
}

async function readPackage(directory: string): Promise<PackagedRelease> {
  const text = await readIfThere(join(directory, 'package.json'));
  const { name, version, level, bin } = text === undefined ? {} : parse(text);
  if (name !== NAME || typeof version !== 'string' || typeof bin?.qd !== 'string') {
    throw new CliError(`${directory} is not a package of Quarterdeck`);
  }
  return { version, level: typeof level === 'number' ? level : 0, program: join(directory, bin.qd) };
}

function parse(text: string): { name?: unknown; version?: unknown; level?: unknown; bin?: { qd?: unknown } } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
