import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silent } from '../../../base/log.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { connectionOf, loadKubeconfig } from '../../../client/kubeconfig/kubeconfig.ts';
import { checkKubeconfig, ownKubeconfig, publishAccess } from './kubeconfig.ts';
import { republishing } from './republish.ts';

const OWN = 'https://10.0.0.1:6443';
const OTHER = 'https://10.0.0.2:6443';

let directory: string;
let file: string;
let servers: readonly string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-republish-'));
  await mkdir(join(directory, 'data'));
  file = join(directory, 'config');
  servers = [];
});
afterEach(() => rm(directory, { recursive: true }));

const current = () => ({
  access: { name: 'qd', server: OWN, servers, ca: 'CA of ours', cert: 'CRT', key: 'KEY' },
  file,
  directory: join(directory, 'data'),
  clock: systemClock,
});
const written = async (path: string) => (await connectionOf(await loadKubeconfig([path]), 'qd')).servers ?? [];
const changes = republishing(current, silent);
const change = async (next: readonly string[]) => {
  servers = next;
  await changes.servers();
};

const OTHERS = JSON.stringify({
  clusters: [{ name: 'work', cluster: { server: 'https://work' } }],
  'current-context': 'work',
});

test.each([
  ['of its own', ''],
  ['of the user', OTHERS],
])('the servers of a cluster are in its kubeconfig and in a file %s, as they come and go', async (_, text) => {
  await writeFile(file, text);
  await publishAccess(current(), () => {});
  for (const next of [[OWN, OTHER], [OWN], [OTHER, OWN, 'https://10.0.0.3:6443'], []]) {
    await change(next);
    for (const path of [file, ownKubeconfig(join(directory, 'data'))]) expect(await written(path)).toEqual(next);
    await expect(checkKubeconfig(file)).resolves.toBeUndefined();
  }
});

test('a start leaves a file with the same servers alone', async () => {
  servers = [OWN, OTHER];
  await writeFile(file, OTHERS);
  await publishAccess(current(), () => {});
  const before = await readFile(file, 'utf8');
  await publishAccess(current(), () => {});
  expect(await readFile(file, 'utf8')).toBe(before);
});

test.each([
  ['was removed', OTHERS],
  ['leads to another server', JSON.stringify({ clusters: [{ name: 'qd', cluster: { server: OTHER } }] })],
])('a context that %s stays so when servers come', async (_, text) => {
  await publishAccess(current(), () => {});
  await writeFile(file, text);
  await change([OWN, OTHER]);
  expect(await readFile(file, 'utf8')).toBe(text);
  expect(await written(ownKubeconfig(join(directory, 'data')))).toEqual([OWN, OTHER]);
});

test('a file that cannot be read stops nothing', async () => {
  await publishAccess(current(), () => {});
  await writeFile(file, `{ server: ${OWN}\n ${Buffer.from('CA of ours').toString('base64')}`);
  await change([OWN, OTHER]);
  expect(await readFile(file, 'utf8')).toContain(OWN);
});
