/** `qd image` on the image store of a node. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeNodeFile } from '../../src/assembly/node/node-file.ts';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { buildImage } from '../../src/node/images/build/build-image.ts';
import { platformOf } from '../../src/node/images/content/platform.ts';
import { DirectoryImageStore } from '../../src/node/images/store/directory-store.ts';
import { newDirectory, runQd } from './program.ts';

let home: string;
let data: string;
let archive: string;

beforeAll(async () => {
  home = await newDirectory();
  data = join(home, 'data');
  archive = join(home, 'app.tar');
  await mkdir(join(data, 'nodes', 'n1', 'images'), { recursive: true });
  await writeFile(join(data, 'cluster.json'), '{"format":1}');
  await writeNodeFile(join(data, 'nodes', 'n1'), {
    ...{ runtime: 'process', endpoint: undefined, name: 'n1', podCIDRs: [] },
    registries: { mirrors: {}, insecure: [] },
  });
  const files = [{ type: 'bytes', path: '/hello', bytes: Buffer.from('hello') }] as const;
  await buildImage({ name: 'team/app:1', architecture: process.arch, files, config: {} }, archive);
});
afterAll(() => rm(home, { recursive: true, force: true }));

const image = (...args: string[]) => runQd(['image', ...args, '--data-dir', data]);

const isRoot = process.getuid?.() === 0;

test('an archive is loaded, listed and removed', async () => {
  expect(await image('load', archive)).toEqual({ code: 0, stdout: 'n1: loaded docker.io/team/app:1\n', stderr: '' });
  const { stdout } = await image('ls');
  expect(stdout).toMatch(/^NODE +IMAGE +ID +SIZE\nn1 +docker.io\/team\/app:1 +sha256:[0-9a-f]{12} +0.0 MB\n$/);
  const [id = ''] = /sha256:\w+/.exec(stdout) ?? [];
  expect(await image('rm', id)).toMatchObject({ code: 0, stdout: 'n1: removed docker.io/team/app:1\n' });
  expect((await image('ls')).stdout).toBe('NODE   IMAGE   ID   SIZE\n');
});

test.each([
  [['load', 'nothing.tar'], 'nothing.tar cannot be read: it does not exist'],
  [['rm', 'team/other'], 'no node has the image team/other; qd image ls shows those that they have'],
  [['rm', 'NOT A NAME'], /^NOT A NAME: couldn't parse image name/],
])('%j says what is wrong in one line', async (args, expected) => {
  const { code, stdout, stderr } = await image(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^qd: [^\n]+\n$/);
  const line = stderr.trim().replace('qd: ', '');
  if (typeof expected === 'string') expect(line).toBe(expected);
  else expect(line).toMatch(expected);
});

test('a file that is not an image is named', async () => {
  const file = join(home, 'cluster.json');
  await writeFile(file, 'x'.repeat(600));
  const { code, stderr } = await image('load', file);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `qd: ${file}: this is not a tar archive, or it is damaged\n`,
  });
});

test('a cluster without such nodes, and none at all, are told apart', async () => {
  const empty = join(home, 'empty');
  await mkdir(empty);
  const [without, missing] = await Promise.all([
    runQd(['image', 'ls', '--data-dir', empty]),
    runQd(['image', 'ls', '--data-dir', join(home, 'missing')]),
  ]);
  expect(without.stderr).toContain('no node of');
  expect(missing.stderr).toContain('there is no such cluster');
});

describe('the image of Quarterdeck', () => {
  let root: string;
  let entrypoint: readonly string[];

  beforeAll(async () => {
    const output = join(home, 'own.tar');
    const { code, stdout } = await image('build', '--image', 'own:2', '--output', output);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('docker.io/library/own:2') });
    const store = await DirectoryImageStore.open({
      directory: join(home, 'store'),
      clock: systemClock,
      log: silent,
      source: { pull: () => Promise.reject(new Error('nothing is pulled here')) },
      platform: platformOf(process.arch),
      isRoot,
    });
    await store.load(output);
    const [own] = await store.list();
    root = await store.unpack(own!.id);
    ({ entrypoint } = await store.config(own!.id));
  });

  test('has the files of its entry point', () => {
    expect(entrypoint).toHaveLength(2);
    for (const file of entrypoint) expect(existsSync(join(root, file))).toBe(true);
  });

  // Only root may change its root.
  test.runIf(isRoot)('runs, with the native library of its store', () => {
    const [node = '', program = ''] = entrypoint;
    const run = (...args: string[]) => {
      const env = { PATH: process.env.PATH };
      return execFileSync('chroot', [root, node, ...args], { env, encoding: 'utf8' });
    };
    expect(run(program, 'version')).toMatch(/^qd \d/);
    const script = `const { open } = require('/opt/quarterdeck/node_modules/lmdb'); open({ path: '/tmp/x' }).close().then(() => console.log('ok'))`;
    expect(run('-e', script)).toBe('ok\n');
  });
});
