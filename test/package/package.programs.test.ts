/** Tests the packed package: its content, and its programs after `npm install -g`, on the PATH and elsewhere. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Registry, startRegistry } from './registry.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

let directory: string;
let tarball: string;
let contents: readonly string[];
let registry: Registry;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-package-'));
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', directory], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  tarball = join(directory, packed.filename);
  contents = packed.files.map(({ path }: { path: string }) => path);
  registry = await startRegistry(root, join(directory, 'registry'));
});
afterAll(async () => {
  await registry.close();
  await rm(directory, { recursive: true, force: true });
});

/** Installs the package with its dependencies into a folder or, with `-g`, for all. */
async function install(prefix: string, ...more: string[]): Promise<void> {
  const cache = join(directory, 'cache');
  const options = ['--no-audit', '--no-fund', '--registry', registry.url, '--cache', cache, '--prefix', prefix];
  await execute('npm', ['install', ...more, ...options, tarball], { cwd: directory });
}

const { bin, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

test('the package holds the programs, and nothing that they do not need', () => {
  expect(contents).toEqual(
    expect.arrayContaining([...Object.values<string>(bin), 'package.json', 'README.md', 'LICENSE']),
  );
  const known =
    /^(package\.json|README\.md|LICENSE|(CHANGELOG|SECURITY)\.md|bin\/(qd|qdfed|load)\.cjs|dist\/(package\.json|qd(fed)?\.js|testing\.(js|d\.ts)|qd\.(main|front|keeper|agent|network|yaml|testing)-\w+\.js(\.map|\.code|\.image)?))$/;
  expect(contents.filter((path) => !known.test(path))).toEqual([]);
});

test('npx in a clone that is not built explains what to do, and works after the build', async () => {
  const clone = join(directory, 'clone');
  await mkdir(clone);
  for (const path of ['package.json', 'bin']) await cp(join(root, path), join(clone, path), { recursive: true });
  const env = { ...process.env, HOME: directory, npm_config_cache: join(directory, 'npx-cache') };
  const npx = () => execute('npx', ['--offline', 'qd', '--version'], { cwd: clone, env });
  await expect(npx()).rejects.toMatchObject({ stderr: expect.stringContaining('run: npm run build') });
  await symlink(join(root, 'dist'), join(clone, 'dist'));
  expect((await npx()).stdout).toBe(`qd ${version}\n`);
});

test('qd and qdfed are on the PATH after npm install -g, and work', async () => {
  const prefix = join(directory, 'prefix');
  await install(prefix, '-g');
  const home = join(directory, 'home');
  await mkdir(home);
  // Neither the clone nor its node_modules: files that are there and not in the package would be found by mistake.
  const env = {
    HOME: home,
    PATH: [join(prefix, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    npm_config_registry: registry.url,
    npm_config_cache: join(directory, 'cache'),
  };
  const run = async (program: string, ...args: string[]) => (await execute(program, args, { cwd: home, env })).stdout;
  expect(await run('qd', '--version')).toBe(`qd ${version}\n`);
  expect(await run('qdfed', '--version')).toBe(`qdfed ${version}\n`);
  expect(await run('qd', '--help')).toContain('qd [options] [command]');
  // As in the container, but for the port, the address and the folder.
  const containerfile = await readFile(join(root, 'examples', 'testing', 'Containerfile'), 'utf8');
  const words = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(containerfile)?.[1] ?? '[]');
  const [program = '', ...flags] = [...words('ENTRYPOINT'), ...words('CMD')].map((word) =>
    word.replace('/home/node', home).replace('0.0.0.0', '127.0.0.1'),
  );
  expect(await run(program, ...flags, '--detach', '--port', '0', '--name', 'contained')).toMatch(/^Ready in /m);
  expect(await run('qd', 'clock', 'advance', '1h', '--kubeconfig', join(home, 'kubeconfig'))).toMatch(/Z$/m);
  expect(await run('qd', 'down', '--name', 'contained')).toContain('Stopped cluster');
  const started = await run('qd', 'up', '--detach', '--port', '0', '--runtime', 'simulated');
  expect(started).toMatch(/^Ready in /m);
  expect(started).toMatch(/^qd down stops the cluster/m);
  try {
    expect(await run('qd', 'list')).toMatch(/^quarterdeck +running \(process \d+\)/m);
    const state = join(home, '.quarterdeck', 'quarterdeck');
    expect(await run('qd', 'snapshot', 'save', 'objects.snapshot')).toContain('revision');
    expect(await readFile(join(state, 'qd.log'), 'utf8')).toContain('"message":"ready"');
    const releases = join(home, '.quarterdeck', '.releases');
    expect(await run('qd', 'upgrade', tarball)).toContain(
      `Cluster "quarterdeck" runs with ${version}, from ${releases}`,
    );
  } finally {
    expect(await run('qd', 'down')).toContain('Stopped cluster');
  }
}, 180_000);

describe('in a fresh project', () => {
  let project: string;
  const recipes = join(root, 'examples', 'testing');
  const env = () => ({ HOME: project, PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) });
  const node = (...args: string[]) => execute(process.execPath, args, { cwd: project, env: env() });
  const copy = (recipe: string) => cp(join(recipes, recipe), join(project, recipe), { recursive: true });
  beforeAll(async () => {
    project = join(directory, 'project');
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"name":"fresh","private":true}');
    await install(project, '--save-dev');
  });

  test('the ten lines of the README pass, with the command of the workflow for GitHub Actions', async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const [, code = ''] = /```js\n([^`]*quarterdeck\/testing[^`]*)```/.exec(readme) ?? [];
    expect(code.slice(code.indexOf('test(')).trim().split('\n')).toHaveLength(10);
    await writeFile(join(project, 'backup.test.mjs'), code);
    const workflow = parse(await readFile(join(recipes, 'github-workflow.yml'), 'utf8'));
    const steps: readonly { run?: string }[] = workflow.jobs.test.steps;
    const commands = steps.flatMap(({ run }) => run ?? []);
    expect(commands).toEqual(['npm ci', 'node --test']);
    // The registry of this test has no packages for other machines, so `npm ci` would find the lock file incomplete.
    const [, last = ''] = commands;
    const { stdout } = await execute('/bin/sh', ['-ec', last], { cwd: project, env: env() });
    expect(stdout).toMatch(/^# pass 1$/m);
  }, 180_000);

  describe('errors have traces with the paths of the project, and lines that can be read', () => {
    const ofPackage = /quarterdeck\/dist\/qd\.testing-\w+\.js:\d+:\d+/;
    const ofSources = (file: string) =>
      new RegExp(`${join(project, 'node_modules/quarterdeck/src/testing', file)}:\\d+:\\d+`);
    const failing = async (call: string, ...flags: string[]) => {
      const program = `import { Cluster } from 'quarterdeck/testing';
        const cluster = await Cluster.start();
        const controller = async () => { throw new Error('a fault of the controller'); };
        ${call}`;
      await writeFile(join(project, 'fails.mjs'), program);
      const { stderr } = await node(...flags, 'fails.mjs').then(
        () => ({ stderr: '' }),
        (error: { stderr: string }) => error,
      );
      expect(stderr).toContain(`${pathToFileURL(join(project, 'fails.mjs'))}:4:`);
      expect(stderr).not.toContain(root);
      expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(220);
      return stderr;
    };

    test('of the package', async () => {
      const stderr = await failing("await cluster.advance('x');");
      expect(stderr).toContain('x is not a duration');
      expect(stderr).toMatch(ofPackage);
    });

    test('of the API', async () => {
      expect(await failing("await cluster.client.of('Pod').in('default').get('x');")).toContain('pods "x" not found');
    });

    test('of the program that is tested', async () => {
      const stderr = await failing('await cluster.waitFor(controller);');
      expect(stderr).toContain(`${pathToFileURL(join(project, 'fails.mjs'))}:3:`);
    });

    test('with source maps, where Node applies them', async () => {
      const stderr = await failing("await cluster.advance('x');", '--enable-source-maps');
      expect(stderr).toMatch(ofSources('time/time-control.ts'));
      expect(stderr).not.toMatch(/qd\.testing-\w+\.js:\d+:\d+/);
    });
  });

  test('the types are known', async () => {
    await writeFile(
      join(project, 'types.mts'),
      "import { Cluster } from 'quarterdeck/testing';\nawait using cluster = await Cluster.start();\nconst seed: number = cluster.seed;\nexport { seed };\n",
    );
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const types = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node'];
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2022,esnext.disposable',
    ];
    expect((await execute(tsc, [...options, ...types, 'types.mts'], { cwd: project })).stdout).toBe('');
  });

  test('the recipes for node and vitest pass, with the official client', async () => {
    for (const name of ['vitest', '@kubernetes']) {
      await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
    await copy('node');
    expect((await node('--test', 'node/')).stdout).toMatch(/^# pass 2$/m);
    await copy('vitest');
    const vitest = join(project, 'node_modules', 'vitest', 'vitest.mjs');
    expect((await node(vitest, 'run', '--root', 'vitest', '--no-color')).stdout).toMatch(/Tests +2 passed/);
  }, 180_000);

  test('the recipe for jest passes, where jest can be installed', async ({ skip }) => {
    // A development dependency on it would be two thirds more packages in every installation. It is kept for later runs.
    const jest = join(root, '.cache', 'jest');
    await mkdir(jest, { recursive: true });
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--prefix', jest, 'jest@30'];
    try {
      await execute('npm', ['install', ...options], { cwd: jest, timeout: 150_000 });
    } catch (error) {
      skip(`jest cannot be installed here: ${(error as Error).message.split('\n')[0]}`);
    }
    await copy('jest');
    const program = join(jest, 'node_modules', 'jest', 'bin', 'jest.js');
    const { stderr } = await node(program, '--rootDir', join(project, 'jest'), '--no-watchman');
    expect(stderr).toMatch(/Tests: +2 passed, 2 total/);
  }, 200_000);
});
