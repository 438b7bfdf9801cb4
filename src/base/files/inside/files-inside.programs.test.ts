/** Opening paths in images and volumes that hostile users made. */
import { execFileSync } from 'node:child_process';
import {
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeTree } from './change-tree.ts';
import { descriptorPath } from './descriptors.ts';
import { OpenDirectory } from './open-directory.ts';
import { type Links, openInside, pathInside } from './open-inside.ts';
import { readInside } from './read-inside.ts';
import { openRegularFile } from './regular-file.ts';
import { removeTree } from './remove-tree.ts';
import { treeBytes } from './tree-bytes.ts';

const isRoot = process.getuid?.() === 0;

let outside: string;
let root: string;
beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), 'qd-inside-')));
  root = join(outside, 'root');
  await mkdir(join(root, 'dir/deep'), { recursive: true });
  await writeFile(join(root, 'dir/file'), 'inside');
  await writeFile(join(outside, 'secret'), 'outside');
});
afterEach(() => removeTree(outside));

async function leadsTo(path: string, links: Links, create?: number): Promise<string> {
  const handle = await openInside(root, path, { links, ...(create === undefined ? {} : { create: { mode: create } }) });
  try {
    return await readlink(descriptorPath(handle));
  } finally {
    await handle.close();
  }
}
const openFiles = async () => (await readdir('/proc/self/fd')).length;

describe('links of an image', () => {
  it.each([
    ['dir/file', 'dir/file'],
    ['.', ''],
    ['..', ''],
    ['../../dir/file', 'dir/file'],
    ['/dir/../dir//file', 'dir/file'],
    ['relative', 'dir/file'],
    ['absolute', 'dir/file'],
    ['up', ''],
    ['up/dir', 'dir'],
    ['dir/sideways', 'dir'],
  ])('lead from %s to %j', async (path, target) => {
    await symlink('dir/file', join(root, 'relative'));
    await symlink('/dir/file', join(root, 'absolute'));
    await symlink('../..', join(root, 'up'));
    await symlink('../../../dir', join(root, 'dir/sideways'));
    expect(await leadsTo(path, 'chroot')).toBe(join(root, target));
  });

  it('never lead to a file of the node', async () => {
    await symlink(join(outside, 'secret'), join(root, 'passwd'));
    await symlink('/../../secret', join(root, 'group'));
    await symlink('/proc/self/cwd', join(root, 'cwd'));
    for (const path of ['passwd', 'group', 'cwd/secret']) {
      await expect(leadsTo(path, 'chroot')).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await readInside(root, path, { links: 'chroot', maxBytes: 100 })).toBeUndefined();
    }
  });

  it('may not lead in a circle', async () => {
    await symlink('b', join(root, 'a'));
    await symlink('a', join(root, 'b'));
    const before = await openFiles();
    await expect(leadsTo('a/x', 'chroot')).rejects.toThrow('too many links');
    expect(await openFiles()).toBe(before);
  });

  it('have a path without links', async () => {
    await symlink('/dir', join(root, 'link'));
    expect(await pathInside(root, 'link/file', { links: 'chroot' })).toBe(join(root, 'dir/file'));
  });
});

describe('links of a volume', () => {
  it('are followed while they stay inside, including absolute ones', async () => {
    await symlink('../dir/file', join(root, 'dir/link'));
    await symlink(join(root, 'dir'), join(root, 'absolute'));
    expect(await leadsTo('dir/link', 'beneath')).toBe(join(root, 'dir/file'));
    expect(await leadsTo('absolute/file', 'beneath')).toBe(join(root, 'dir/file'));
  });

  it.each(['..', '../secret', 'up', 'up/secret', 'absolute', 'dir/../../secret'])(
    'do not lead out by %s',
    async (path) => {
      await symlink('..', join(root, 'up'));
      await symlink(`${root}-2`, join(root, 'absolute'));
      await expect(leadsTo(path, 'beneath')).rejects.toThrow('leads out of its root');
      await expect(leadsTo(path, 'beneath', 0o777)).rejects.toThrow('leads out of its root');
    },
  );

  it('are no matter for a path with a zero byte, which is rejected', async () => {
    await expect(leadsTo('dir\0/file', 'beneath', 0o777)).rejects.toThrow('"dir\\0/file" contains a zero byte');
  });

  it('can be rejected altogether', async () => {
    await symlink('dir', join(root, 'link'));
    await expect(leadsTo('link/file', 'reject')).rejects.toThrow('leads through a link');
    expect(await leadsTo('dir/file', 'reject')).toBe(join(root, 'dir/file'));
  });
});

describe('missing directories', () => {
  it('are created with their mode, regardless of the umask', async () => {
    const before = process.umask(0o077);
    try {
      expect(await leadsTo('dir/new/er', 'beneath', 0o775)).toBe(join(root, 'dir/new/er'));
    } finally {
      process.umask(before);
    }
    expect((await stat(join(root, 'dir/new'))).mode & 0o777).toBe(0o775);
    const { mode } = await stat(join(root, 'dir'));
    await leadsTo('dir', 'beneath', 0o700);
    expect((await stat(join(root, 'dir'))).mode).toBe(mode);
  });

  it('are not created below a file', async () => {
    await expect(leadsTo('dir/file/x', 'beneath', 0o777)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('are not created outside while links are swapped', async () => {
    const [race, kept, link] = ['race', 'kept', 'link'].map((name) => join(root, name)) as [string, string, string];
    await mkdir(race);
    await mkdir(join(outside, 'target'));
    await symlink('../target', link);
    const move = (from: string, to: string) => rename(from, to).catch(() => {});
    let isOver = false;
    const exchange = (async () => {
      while (!isOver) {
        await move(race, kept);
        await move(link, race);
        await move(race, link);
        await move(kept, race);
      }
    })();
    for (let round = 0; round < 300; round++) await leadsTo('race/inner', 'beneath', 0o777).catch(() => 'rejected');
    isOver = true;
    await exchange;
    expect(await readdir(join(outside, 'target'))).toEqual([]);
  });
});

describe('file contents', () => {
  it('are read from regular files only, without blocking', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await symlink('/dev/zero', join(root, 'device'));
    const options = { links: 'chroot', maxBytes: 100 } as const;
    expect(String(await readInside(root, 'dir/file', options))).toBe('inside');
    for (const path of ['pipe', 'dir', 'device', 'missing', 'dir/file/x', 'x'.repeat(300)]) {
      expect(await readInside(root, path, options)).toBeUndefined();
    }
    expect(await openRegularFile(join(root, 'pipe'))).toBeUndefined();
    expect(await openRegularFile(join(root, 'device'))).toBeUndefined();
  });

  it('are limited in size', async () => {
    const file = await open(join(root, 'large'), 'w');
    await file.truncate(10 * 2 ** 40);
    await file.close();
    const options = { links: 'chroot', maxBytes: 2 ** 20 } as const;
    await expect(readInside(root, 'large', options)).rejects.toThrow('larger than 1048576 bytes');
  });

  it.runIf(isRoot)('are never read from kernel file systems', async () => {
    await mkdir(join(root, 'proc'));
    execFileSync('mount', ['-t', 'proc', 'proc', join(root, 'proc')]);
    try {
      await expect(leadsTo('proc/self/environ', 'beneath')).rejects.toThrow('file system of the kernel');
      await expect(changeTree(root, () => undefined)).rejects.toThrow('file system of the kernel');
      expect(await treeBytes(root)).toBeLessThan(100_000);
    } finally {
      execFileSync('umount', [join(root, 'proc')]);
    }
  });
});

describe('a tree', () => {
  /** Runs a program on each of 600 levels: a path of that depth would be too long. */
  const nest = (each: string, last = '') => {
    const script = `for (let i = 0; i < 600; i++) { ${each} } ${last}`;
    execFileSync(process.execPath, ['-e', script], { cwd: root });
  };

  it.runIf(isRoot)('is changed including its links, but not their targets', async () => {
    await symlink(join(outside, 'secret'), join(root, 'link'));
    await changeTree(root, ({ mode }) => ({ uid: 12, gid: 34, mode: (mode & 0o7777) | 0o020 }));
    for (const path of ['', 'dir', 'dir/file', 'link']) {
      expect(await lstat(join(root, path))).toMatchObject({ uid: 12, gid: 34 });
    }
    expect((await stat(join(root, 'dir/file'))).mode & 0o777).toBe(0o664);
    expect(await stat(join(outside, 'secret'))).toMatchObject({ uid: 0, gid: 0 });
  });

  it('is measured with hard links counted once, and links themselves', async () => {
    await writeFile(join(root, 'large'), Buffer.alloc(1_000_000));
    await writeFile(join(outside, 'secret'), Buffer.alloc(5_000_000));
    execFileSync('ln', [join(root, 'large'), join(root, 'dir/again')]);
    await symlink(join(outside, 'secret'), join(root, 'link'));
    const bytes = await treeBytes(root);
    expect(bytes).toBeGreaterThanOrEqual(1_000_000);
    expect(bytes).toBeLessThan(1_100_000);
    expect(await treeBytes(join(root, 'nothing'))).toBe(0);
    expect(await treeBytes(join(root, 'large'))).toBeGreaterThanOrEqual(1_000_000);
  });

  it('is measured although it is nested deeper than a path can express', async () => {
    nest(
      `fs.mkdirSync('aaaaaaaaa'); process.chdir('aaaaaaaaa');`,
      `fs.writeFileSync('deepest', Buffer.alloc(1_000_000));`,
    );
    expect(await treeBytes(root)).toBeGreaterThanOrEqual(1_000_000);
  });

  it('is too deep to measure when every level has siblings', async () => {
    nest(`fs.mkdirSync('a'); fs.mkdirSync('b'); process.chdir('a');`);
    await expect(treeBytes(root)).rejects.toThrow('nested more than 500 levels deep');
  });
});

it('accepts only names of files in a directory', async () => {
  const directory = await OpenDirectory.open(root);
  for (const name of ['', '.', '..', '../secret', 'dir/file']) {
    await expect(directory.find(name)).rejects.toThrow('is not the name of a file');
  }
  await symlink('../secret', join(root, 'link'));
  await expect(directory.createFile('link')).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await directory.directory('link')).toBeUndefined();
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('outside');
  await directory.close();
});
