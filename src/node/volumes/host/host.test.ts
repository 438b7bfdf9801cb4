import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seenPod } from '../../../../test/support/node/seen-pod.ts';
import { Layout } from './layout.ts';
import { mountPointsBelow, parseMountInfo } from './mount-table.ts';
import { applyFsGroup } from './ownership.ts';
import { descriptorPath, makeInside, openInside } from './safe-path.ts';

describe('the mount table', () => {
  const text = [
    '21 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '30 21 0:25 / /a rw,nosuid shared:7 - tmpfs tmpfs rw,size=4k',
    '31 30 0:26 /x /a/b\\040c ro,relatime shared:1 master:2 - nfs server:/ex\\134port rw',
    '32 21 0:27 / /ab rw - proc proc rw',
    '',
  ].join('\n');

  it('is read with its escapes and optional fields', () => {
    expect(parseMountInfo(text)).toEqual([
      { mountPoint: '/', type: 'ext4', source: '/dev/vda', isReadOnly: false },
      { mountPoint: '/a', type: 'tmpfs', source: 'tmpfs', isReadOnly: false },
      { mountPoint: '/a/b c', type: 'nfs', source: 'server:/ex\\port', isReadOnly: true },
      { mountPoint: '/ab', type: 'proc', source: 'proc', isReadOnly: false },
    ]);
  });

  it('says what is below a directory, the newest first', () => {
    expect(mountPointsBelow(parseMountInfo(text), '/a')).toEqual(['/a/b c', '/a']);
  });
});

it.each(['', '.', '..', 'a/b', 'a\0'])('has no directory for the name %j', (name) => {
  const layout = new Layout('/root');
  expect(() => layout.pod(name)).toThrow(RangeError);
  expect(() => layout.volume('u', 'empty-dir', name)).toThrow(RangeError);
  expect(() => layout.terminationMessage('u', name, 0)).toThrow(RangeError);
});

describe('a path inside a directory', () => {
  let root: string;
  let base: string;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'qd-safe-path-')));
    base = join(root, 'base');
    await mkdir(join(base, 'dir/deep'), { recursive: true });
    await mkdir(join(root, 'base-2'));
    await writeFile(join(base, 'dir/file'), 'x');
  });
  afterEach(() => rm(root, { recursive: true }));

  async function opened(path: string, open = (from: string) => openInside(base, from)) {
    const handle = await open(path);
    try {
      return await realpath(descriptorPath(handle));
    } finally {
      await handle.close();
    }
  }

  it('is opened', async () => {
    expect(await opened('dir/file')).toBe(join(base, 'dir/file'));
    expect(await opened('.')).toBe(base);
    await symlink('../dir/file', join(base, 'dir/link'));
    expect(await opened('dir/link')).toBe(join(base, 'dir/file'));
  });

  it.each(['..', '../base-2', 'up', 'dir/sideways', 'dir/../../base-2'])('is not %s', async (path) => {
    await symlink('..', join(base, 'up'));
    await symlink('../../base-2', join(base, 'dir/sideways'));
    await expect(opened(path)).rejects.toThrow('leads out of the volume');
  });

  it('is made where it is missing, whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      expect(await opened('dir/new/er', (path) => makeInside(base, path, 0o775))).toBe(join(base, 'dir/new/er'));
    } finally {
      process.umask(before);
    }
    expect((await stat(join(base, 'dir/new'))).mode & 0o777).toBe(0o775);
    // What exists keeps its mode.
    const { mode } = await stat(join(base, 'dir'));
    await opened('dir', (path) => makeInside(base, path, 0o700));
    expect((await stat(join(base, 'dir'))).mode).toBe(mode);
  });

  it('is not made below a file, or behind a link that leads out', async () => {
    await expect(opened('dir/file/x', (path) => makeInside(base, path, 0o777))).rejects.toThrow();
    await symlink('../base-2', join(base, 'out'));
    await expect(opened('out/new', (path) => makeInside(base, path, 0o777))).rejects.toThrow('leads out of the volume');
    await expect(opened('../new', (path) => makeInside(base, path, 0o777))).rejects.toThrow('leads out of the volume');
    expect(await readdir(join(root, 'base-2'))).toEqual([]);
  });

  it('stays inside while links are exchanged', async () => {
    const [race, directory, link] = ['race', 'kept-directory', 'kept-link'].map((name) => join(base, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(race);
    await symlink('../base-2', link);
    // Whether one of the exchanges meets what was made meanwhile does not matter.
    const move = (from: string, to: string) => rename(from, to).catch(() => {});
    let isOver = false;
    const exchange = (async () => {
      while (!isOver) {
        await move(race, directory);
        await move(link, race);
        await move(race, link);
        await move(directory, race);
      }
    })();
    const outcomes = new Set<string>();
    for (let round = 0; round < 300; round++) {
      outcomes.add(await opened('race/inner', (path) => makeInside(base, path, 0o777)).catch(() => 'refused'));
    }
    isOver = true;
    await exchange;
    expect(await readdir(join(root, 'base-2'))).toEqual([]);
    expect([...outcomes].filter((path) => path !== 'refused' && !path.startsWith(`${base}/`))).toEqual([]);
  });
});

describe('the group of a volume', () => {
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'qd-group-')));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));
  const options = { readOnly: false, honorsPolicy: false };
  const pod = seenPod({ securityContext: { fsGroup: process.getgid!() } });

  it('is not given to files outside when a directory is exchanged for a link', async () => {
    const [volume, outside] = [join(root, 'volume'), join(root, 'outside')];
    const own = join(volume, 'a');
    await mkdir(own, { recursive: true });
    await mkdir(outside);
    const names = Array.from({ length: 300 }, (_, index) => `f${index}`);
    for (const directory of [own, outside]) {
      for (const name of names) await writeFile(join(directory, name), '', { mode: 0o600 });
    }
    await symlink(outside, join(root, 'link'));
    const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
    const [first = ''] = await readdir(own);
    const exchange = async () => {
      while ((await modeOf(join(own, first))) === 0o600);
      await rename(own, join(root, 'aside'));
      await rename(join(root, 'link'), own);
    };
    await Promise.all([exchange(), applyFsGroup(volume, pod, options)]);
    for (const name of names) expect(await modeOf(join(outside, name))).toBe(0o600);
    for (const name of names) expect(await modeOf(join(root, 'aside', name))).toBe(0o660);
  });

  it('is not given to directories that are nested without end', async () => {
    await mkdir(join(root, 'd/'.repeat(501)), { recursive: true });
    await expect(applyFsGroup(root, pod, options)).rejects.toThrow('nested more than 500 levels deep');
  });
});
