import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { seenPod } from '../../../../test/support/node/seen-pod.ts';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { Layout } from './layout.ts';
import { mountPointsBelow, parseMountInfo } from './mount-table.ts';
import { applyFsGroup } from './ownership.ts';

const text = [
  '21 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
  '30 21 0:25 / /a rw,nosuid shared:7 - tmpfs tmpfs rw,size=4k',
  '31 30 0:26 /x /a/b\\040c ro,relatime shared:1 master:2 - nfs server:/ex\\134port rw',
  '32 21 0:27 / /ab rw - proc proc rw',
  '',
].join('\n');

it('the mount table is read with its escapes and optional fields', () => {
  expect(parseMountInfo(text)).toEqual([
    { mountPoint: '/', type: 'ext4', source: '/dev/vda', isReadOnly: false },
    { mountPoint: '/a', type: 'tmpfs', source: 'tmpfs', isReadOnly: false },
    { mountPoint: '/a/b c', type: 'nfs', source: 'server:/ex\\port', isReadOnly: true },
    { mountPoint: '/ab', type: 'proc', source: 'proc', isReadOnly: false },
  ]);
});

it('the mount table says what is below a directory, the newest first', () => {
  expect(mountPointsBelow(parseMountInfo(text), '/a')).toEqual(['/a/b c', '/a']);
});

it.each(['', '.', '..', 'a/b', 'a\0'])('has no directory for the name %j', (name) => {
  const layout = new Layout('/root');
  expect(() => layout.pod(name)).toThrow(RangeError);
  expect(() => layout.volume('u', 'empty-dir', name)).toThrow(RangeError);
  expect(() => layout.terminationMessage('u', name, 0)).toThrow(RangeError);
});

describe('the group of a volume', () => {
  let root: string;
  beforeEach(async () => {
    root = temporaryDirectory();
  });
  const options = { readOnly: false, honorsPolicy: false, ids: undefined };
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
