/** The release that a cluster is to run with: the directory of a package, or a file that npm installs beside the others. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { stat, utimes } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Release } from '../../../api/release.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { CliError } from '../../output/cli-error.ts';

const execute = promisify(execFile);
export const NAME = 'quarterdeck';
const DIRECTORY_CHARACTERS = 16;

/** Where package files are installed, below the directories of clusters: a name that no cluster has. */
export const RELEASES = '.releases';

/** File of a directory below RELEASES whose package is complete; its time is that of the last upgrade to it. */
export const COMPLETE = 'complete';

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

/**
 * Resolves with the directory of the package. Each content has a directory of its own, which is complete when it has the file of
 * that name: a program may run there, and is not installed over.
 */
async function install(file: string, folder: string): Promise<string> {
  const prefix = join(folder, (await sha256Of(file)).slice(0, DIRECTORY_CHARACTERS));
  const installed = join(prefix, 'node_modules', NAME);
  const complete = join(prefix, COMPLETE);
  if (existsSync(complete)) {
    const now = new Date();
    await utimes(complete, now, now);
    return installed;
  }
  await makeDirectories(prefix, 0o700);
  const options = ['--prefix', prefix, '--no-audit', '--no-fund', '--no-save', '--no-package-lock'];
  // A service of systemd has a PATH without the npm of a Node that is installed elsewhere.
  const env = { ...process.env, PATH: [process.env.PATH, dirname(process.execPath)].join(delimiter) };
  await execute('npm', ['install', ...options, file], { env }).catch((cause: { stderr?: string }) => {
    const [line = 'npm failed'] = cause.stderr?.split('\n').filter((each) => /^npm (error|ERR!) \S/.test(each)) ?? [];
    throw new CliError(`${file} cannot be installed: ${line}`, { cause });
  });
  await writeWhole(complete, '');
  return installed;
}

/** In hexadecimal digits. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
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
