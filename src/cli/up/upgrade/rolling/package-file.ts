/** The package file that is handed to machines. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { Release } from '../../../../api/release.ts';
import { readTar } from '../../../../node/images/tar/read-tar.ts';
import { CliError } from '../../../output/cli-error.ts';
import { NAME } from '../package.ts';

export interface PackageFile {
  readonly content: Buffer;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly release: Release;
}

const DESCRIPTION = 'package/package.json';
const MAX_DESCRIPTION_BYTES = 1024 * 1024;

export async function readPackageFile(path: string): Promise<PackageFile> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new CliError(`${path} cannot be read`, { cause });
  });
  if (found.isDirectory()) {
    throw new CliError(
      `${path} is a directory, and --all hands a file to the machines: npm pack makes one of a package`,
    );
  }
  const release = await releaseOf(path).catch((cause: unknown) => {
    throw new CliError(`${path} is not a package file of Quarterdeck`, { cause });
  });
  const content = await readFile(path);
  return { content, sha256: createHash('sha256').update(content).digest('hex'), release };
}

async function releaseOf(path: string): Promise<Release> {
  const source = createReadStream(path);
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  for await (const { path: name, size, content } of readTar(source.pipe(unpacked))) {
    if (name !== DESCRIPTION || size > MAX_DESCRIPTION_BYTES) continue;
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    const { name: packaged, version, level } = JSON.parse(Buffer.concat(parts).toString('utf8'));
    if (packaged !== NAME || typeof version !== 'string') break;
    return { version, level: typeof level === 'number' ? level : 0 };
  }
  throw new Error(`expected ${DESCRIPTION} of ${NAME}`);
}
