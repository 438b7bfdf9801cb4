import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkMemberRelease, keepMemberRelease } from './member-release.ts';
import { memberPaths } from './paths.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-release-'));
  await mkdir(join(directory, 'etcd'));
});
afterEach(() => rm(directory, { recursive: true }));

const paths = () => memberPaths(directory);
const check = (major: number, minor: number) =>
  checkMemberRelease(paths(), { path: '/usr/bin/etcd', release: { major, minor } }).then(
    () => 'accepted',
    ({ message }: Error) => message,
  );

it.each([
  [3, 5, 'accepted'],
  [3, 6, 'accepted'],
  [3, 4, 'accepted'],
  [
    3,
    7,
    'ran with 3.5 last, and /usr/bin/etcd is 3.7: etcd goes one minor release at a time, on all servers before the next; install etcd 3.6',
  ],
  [4, 0, 'one minor release at a time'],
])('after 3.5, a member with etcd %i.%i: %s', async (major, minor, expected) => {
  await keepMemberRelease(paths(), { major: 3, minor: 5 });
  expect(await check(major, minor)).toContain(expected);
});

it('a member that has not said with which release it ran is accepted', async () => {
  expect(await check(3, 7)).toBe('accepted');
});
