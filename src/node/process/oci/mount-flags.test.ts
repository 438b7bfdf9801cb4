import { expect, it } from 'vitest';
import { mountAt, parseMountInfo } from './mount-flags.ts';

const MOUNTS = parseMountInfo(`21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 21 0:20 / /data rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw
31 30 0:21 / /data/a\\040b ro,noatime - tmpfs tmpfs rw
32 21 0:22 / /data2 ro - tmpfs tmpfs rw
`);

it.each([
  ['/etc', []],
  ['/data', ['nosuid', 'nodev', 'noexec']],
  ['/data/x/y', ['nosuid', 'nodev', 'noexec']],
  ['/data/a b/c', ['ro', 'noatime']],
  ['/data23', []],
])('%s', (path, flags) => {
  expect(mountAt(MOUNTS, path)?.flags).toEqual(flags);
});

it('knows which mounts are shared with other namespaces', () => {
  expect(['/etc', '/data'].map((path) => mountAt(MOUNTS, path)?.isShared)).toEqual([true, false]);
});

it('takes the mount that was made last on a point', () => {
  const twice = parseMountInfo('1 0 0:1 / /x ro - a a rw\n2 1 0:2 / /x rw,noexec - b b rw\n');
  expect(mountAt(twice, '/x/y')?.flags).toEqual(['noexec']);
});
