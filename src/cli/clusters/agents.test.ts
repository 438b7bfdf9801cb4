import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { writeAgentFile } from '../agent/agent-file.ts';
import { takeLock } from '../up/directory/lock.ts';
import { describe as called, findCluster, findClusters } from './find.ts';

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

test('an agent is listed with its node and its server, and whether it runs', async () => {
  const directory = join(home, 'agent');
  await mkdir(directory);
  await writeAgentFile(directory, { node: 'rack-4', server: 'https://192.0.2.2:6443', version: '1.2.3' });
  const known = { kind: 'agent', name: 'rack-4', url: 'https://192.0.2.2:6443', version: '1.2.3', directory };
  expect(await findClusters(home)).toEqual([{ ...known, state: 'stopped' }]);
  const lock = await takeLock(directory);
  expect(await findClusters(home)).toEqual([{ ...known, state: 'running', pid: process.pid }]);
  await lock.release();
});

test('an agent is starting until its process has had a ready node', async () => {
  const directory = join(home, 'agent');
  await mkdir(directory);
  const lock = await takeLock(directory);
  const states = async () => (await findClusters(home)).map(({ state }) => state);
  await writeAgentFile(directory, { node: 'rack-4', readyPid: 0 });
  expect(await states()).toEqual(['starting']);
  await writeAgentFile(directory, { node: 'rack-4', readyPid: process.pid });
  expect(await states()).toEqual(['running']);
  await lock.release();
});

test('the directory of an agent of an earlier release is none of a cluster', async () => {
  const directory = join(home, 'old');
  await makeDirectories(join(directory, 'nodes', 'rack-5'), 0o700);
  await mkdir(join(directory, 'pki'));
  const found = await findCluster(directory, home);
  expect(found).toMatchObject({ kind: 'agent', name: 'rack-5', state: 'stopped' });
  expect(called(found!)).toBe('agent of node "rack-5"');
  await writeFile(join(directory, 'pki', 'ca.key'), '');
  expect(await findCluster(directory, home)).toBeUndefined();
});
