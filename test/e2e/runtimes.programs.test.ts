/** Tests the choice of `--runtime auto`, and how a later start treats it. */
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newDirectory, runQd, runUntilReady } from './program.ts';

let directory: string;
const data = () => join(directory, 'data');
const isRoot = process.getuid?.() === 0;
/** Root may use a containerd that is installed; another user runs processes. */
const user = isRoot ? { uid: 65_534 } : {};

beforeEach(async () => {
  directory = await newDirectory();
  await chmod(directory, 0o777);
});
afterEach(async () => {
  await runQd(['reset', '--yes', '--data-dir', data()], { env: { HOME: directory }, ...user });
  await rm(directory, { recursive: true, force: true });
});

const up = (...flags: string[]) => {
  const where = ['--data-dir', data(), '--port', '0', '--kubeconfig', join(directory, 'kubeconfig')];
  return runUntilReady([...where, '--cluster-cidr', '10.233.0.0/16', ...flags], { HOME: directory }, user);
};

test('a user without root runs processes, and is told why; later starts go on with them', async () => {
  expect(await up('--runtime', 'auto')).toMatch(
    /^nodes +quarterdeck-node-1, processes of this user, not isolated: containers need root and runc \(containerd is (not installed|installed, but needs root)\) /m,
  );
  expect(await up('--runtime', 'auto')).toMatch(
    /^nodes +quarterdeck-node-1, processes of this user, not isolated: containers need root and runc \(as at its last start\) /m,
  );
});

test('nothing is looked for without nodes', async () => {
  expect(await up('--runtime', 'auto', '--nodes', '0')).toMatch(/^nodes +none /m);
});
