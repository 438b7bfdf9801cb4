/** The packed package: what is in it, and that its programs work after `npm install -g`, on the PATH and elsewhere. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRegistry } from './registry.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

let directory: string;
let tarball: string;
let contents: readonly string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-package-'));
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', directory], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  tarball = join(directory, packed.filename);
  contents = packed.files.map(({ path }: { path: string }) => path);
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

const { bin, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

test('the package holds the programs, and nothing that they do not need', () => {
  expect(contents).toEqual(
    expect.arrayContaining([...Object.values<string>(bin), 'package.json', 'README.md', 'LICENSE']),
  );
  const known =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|bin\/(qd|qdfed|load)\.cjs|dist\/(package\.json|qd(fed)?\.js|qd\.(main|front|keeper|agent|dns)-\w+\.js(\.map|\.code)?))$/;
  expect(contents.filter((path) => !known.test(path))).toEqual([]);
});

test('in a clone that is not built, npx says what to do, and works after the build', async () => {
  const clone = join(directory, 'clone');
  await mkdir(clone);
  for (const path of ['package.json', 'bin']) await cp(join(root, path), join(clone, path), { recursive: true });
  const env = { ...process.env, HOME: directory, npm_config_cache: join(directory, 'npx-cache') };
  const npx = () => execute('npx', ['--offline', 'qd', '--version'], { cwd: clone, env });
  await expect(npx()).rejects.toMatchObject({ stderr: expect.stringContaining('run: npm run build') });
  await symlink(join(root, 'dist'), join(clone, 'dist'));
  expect((await npx()).stdout).toBe(`qd ${version}\n`);
}, 60_000);

test('after npm install -g, qd and qdfed are on the PATH and work', async () => {
  const registry = await startRegistry(root, join(directory, 'registry'));
  const prefix = join(directory, 'prefix');
  const cache = join(directory, 'cache');
  try {
    const options = ['--no-audit', '--no-fund', '--registry', registry.url, '--cache', cache, '--prefix', prefix];
    await execute('npm', ['install', '-g', ...options, tarball], { cwd: directory });
  } finally {
    await registry.close();
  }
  const home = join(directory, 'home');
  await mkdir(home);
  // Neither the clone nor its node_modules: what is there and not in the package would be found by mistake.
  const env = {
    HOME: home,
    PATH: [join(prefix, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  };
  const run = async (program: string, ...args: string[]) => (await execute(program, args, { cwd: home, env })).stdout;
  expect(await run('qd', '--version')).toBe(`qd ${version}\n`);
  expect(await run('qdfed', '--version')).toBe(`qdfed ${version}\n`);
  expect(await run('qd', '--help')).toContain('qd [options] [command]');
  const started = await run('qd', 'up', '--detach', '--port', '0', '--runtime', 'simulated');
  expect(started).toMatch(/^Ready in /m);
  expect(started).toMatch(/^qd down stops the cluster/m);
  try {
    expect(await run('qd', 'list')).toMatch(/^quarterdeck +running \(process \d+\)/m);
    const state = join(home, '.quarterdeck', 'quarterdeck');
    expect(await run('qd', 'snapshot', 'save', 'objects.snapshot')).toContain('revision');
    expect(await readFile(join(state, 'qd.log'), 'utf8')).toContain('"message":"ready"');
  } finally {
    expect(await run('qd', 'down')).toContain('Stopped cluster');
  }
}, 180_000);
