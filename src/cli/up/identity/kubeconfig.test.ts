import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { serverUrl } from '../../../assembly/addresses.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { checkKubeconfig, userFile, writeAccess, writeOwn } from './kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const access = (port = 6443) => ({
  ...{ name: 'quarterdeck', server: serverUrl('127.0.0.1', port), servers: [] },
  ...{ ca: 'CA of ours', cert: 'CRT', key: 'KEY' },
});
const write = (port = 6443) => writeAccess(file, access(port), systemClock);

let directory: string;
let file: string;
beforeEach(async () => {
  directory = temporaryDirectory();
  file = join(directory, 'folder', 'config');
  await write();
});

test('the file has the cluster, its authority and the administrator, and only its owner can read it', async () => {
  expect(parse(await readFile(file, 'utf8'))).toMatchObject({
    kind: 'Config',
    'current-context': 'quarterdeck',
    clusters: [
      {
        name: 'quarterdeck',
        cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': base64('CA of ours') },
      },
    ],
    contexts: [{ name: 'quarterdeck', context: { cluster: 'quarterdeck', user: 'quarterdeck' } }],
    users: [
      { name: 'quarterdeck', user: { 'client-certificate-data': base64('CRT'), 'client-key-data': base64('KEY') } },
    ],
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  ['0.0.0.0', 'https://127.0.0.1:6443'],
  ['::', 'https://[::1]:6443'],
  ['fd00::1', 'https://[fd00::1]:6443'],
])('a server on %s is reached at %s', (host, server) => {
  expect(serverUrl(host, 6443)).toBe(server);
});

test('a file that is up to date is not written again', async () => {
  const { ino } = await stat(file);
  await write();
  expect((await stat(file)).ino).toBe(ino);
});

const OTHERS = `# my clusters
apiVersion: v1
kind: Config
clusters:
- cluster: {server: https://work.example}
  name: work # do not break
contexts:
- context: {cluster: work, user: me}
  name: work
current-context: work
users: null
`;

test('existing content stays, comments included, and a new cluster becomes the current context', async () => {
  await writeFile(file, OTHERS);
  await write();
  const text = await readFile(file, 'utf8');
  expect(text).toContain('# my clusters');
  expect(text).toContain('# do not break');
  const config = parse(text);
  expect(config.clusters.map(({ name }: { name: string }) => name)).toEqual(['work', 'quarterdeck']);
  expect(config['current-context']).toBe('quarterdeck');
});

test('a merged file is recognised, so that a further start leaves it alone', async () => {
  await writeFile(file, OTHERS);
  await write();
  const { ino } = await stat(file);
  await write();
  expect((await stat(file)).ino).toBe(ino);
});

test('a cluster that is already in the file is replaced, and the current context stays', async () => {
  await writeFile(file, OTHERS);
  await write();
  await writeFile(file, (await readFile(file, 'utf8')).replace(/current-context: .*/, 'current-context: work'));
  await write(7000);
  const config = parse(await readFile(file, 'utf8'));
  expect(config.clusters[1].cluster.server).toBe('https://127.0.0.1:7000');
  expect(config.clusters).toHaveLength(2);
  expect(config['current-context']).toBe('work');
});

test('the file of a data directory has one cluster, whatever was in it before', async () => {
  const original = { ...access(7000), name: 'original' };
  await writeOwn(file, original);
  await writeOwn(file, access());
  const { clusters, contexts, users, ...config } = parse(await readFile(file, 'utf8'));
  for (const list of [clusters, contexts, users]) expect(list).toMatchObject([{ name: 'quarterdeck' }]);
  expect(clusters[0].cluster.server).toBe('https://127.0.0.1:6443');
  expect(config['current-context']).toBe('quarterdeck');
  const { ino } = await stat(file);
  await writeOwn(file, access());
  expect((await stat(file)).ino, 'not written again').toBe(ino);
});

test('of several files in KUBECONFIG the first that exists is changed, or else the last', () => {
  const missing = join(directory, 'missing');
  expect(userFile({ KUBECONFIG: `${missing}:${file}` }, '/home/me')).toBe(file);
  expect(userFile({ KUBECONFIG: `${missing}:${missing}2` }, '/home/me')).toBe(`${missing}2`);
  expect(userFile({}, '/home/me')).toBe('/home/me/.kube/config');
});

test('what became of the file is returned: whether it is new, and which context was current', async () => {
  expect(await write()).toEqual({ isNew: false, switchedFrom: undefined });
  await rm(file);
  expect(await write()).toEqual({ isNew: true, switchedFrom: undefined });
  await writeFile(file, '');
  expect(await write()).toEqual({ isNew: false, switchedFrom: undefined });
  await writeFile(file, OTHERS);
  expect(await write()).toEqual({ isNew: false, switchedFrom: 'work' });
  expect(await write(7000), 'a cluster that is known switches nothing').toMatchObject({ switchedFrom: undefined });
});

test('the context that was current may be in another file of KUBECONFIG', async () => {
  const other = join(directory, 'other');
  await writeFile(other, OTHERS);
  await writeFile(file, 'apiVersion: v1\nkind: Config\n');
  expect(await writeAccess(file, access(), systemClock, [file, other])).toMatchObject({ switchedFrom: 'work' });
});

test.each([
  ['of our own', undefined, undefined],
  ['of others', OTHERS, undefined],
  ['empty', '', undefined],
  ['not YAML', '{', 'is not valid YAML'],
  ['something else', '- a list\n', 'is not a client configuration'],
])('a file for --kubeconfig is checked without being changed: %s', async (_, text, message) => {
  if (text !== undefined) await writeFile(file, text);
  const before = await readFile(file, 'utf8');
  const checked = checkKubeconfig(file);
  await (message === undefined ? expect(checked).resolves.toBeUndefined() : expect(checked).rejects.toThrow(message));
  expect(await readFile(file, 'utf8')).toBe(before);
});
