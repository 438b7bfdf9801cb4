/** A file or directory of the node. */
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { open, stat } from '../../../base/files/own/own-files.ts';
import { backsteps } from '../../../kinds/shapes/meta/paths.ts';
import { type PreparedVolume, VolumeError } from '../volumes.ts';

/** Checks a path. `type` is the required type of file; empty: it is not checked. */
export async function prepareHostPath(path: string, type: string): Promise<PreparedVolume> {
  for (const complaint of backsteps(path)) throw new VolumeError(`invalid HostPath \`${path}\`: ${complaint}`);
  await checkHostPath(path, type);
  return { type: 'directory', path, readOnly: false, selinuxRelabel: false };
}

type FileType = 'Directory' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

/** Names of file types in messages. */
const EXPECTED: Readonly<Record<FileType, string>> = {
  Directory: 'directory',
  File: 'file',
  Socket: 'socket file',
  CharDevice: 'character device',
  BlockDevice: 'block device',
};

async function checkHostPath(path: string, type: string): Promise<void> {
  switch (type) {
    case '':
      return;
    case 'DirectoryOrCreate':
      if ((await typeOf(path)) === undefined) await makeDirectories(path, 0o755);
      return requireType(path, 'Directory');
    case 'FileOrCreate':
      if ((await typeOf(path)) === undefined) await (await open(path, 'a', 0o644)).close();
      return requireType(path, 'File');
    case 'Directory':
    case 'File':
    case 'Socket':
    case 'CharDevice':
    case 'BlockDevice':
      return requireType(path, type);
    default:
      throw new VolumeError(`${type} is an invalid volume type`);
  }
}

async function requireType(path: string, type: FileType): Promise<void> {
  const found = await typeOf(path);
  if (found === type) return;
  const expected = EXPECTED[type];
  if (found === undefined) {
    throw new VolumeError(
      `hostPath type check failed, ${path} is not a ${expected}, unable to determine its type: path "${path}" does not exist`,
    );
  }
  throw new VolumeError(`hostPath type check failed: ${path} is not a ${expected}, it's a ${found}`);
}

/** Returns the type of the file; undefined when there is none. */
async function typeOf(path: string): Promise<FileType | undefined> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!stats) return undefined;
  if (stats.isDirectory()) return 'Directory';
  if (stats.isFile()) return 'File';
  if (stats.isSocket()) return 'Socket';
  if (stats.isCharacterDevice()) return 'CharDevice';
  if (stats.isBlockDevice()) return 'BlockDevice';
  throw new VolumeError('only recognise file, directory, socket, block device and character device');
}
