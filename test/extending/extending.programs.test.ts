/**
 * Tests that docs/extending.md works as it stands: its blocks are applied to a copy of the project, and the copy must
 * pass the type check, the tests on the page, and the suites that cover the listed parts.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changed, type Step, stepsOf } from './page.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const COPIED = [
  'src',
  'test',
  'examples',
  'docs',
  'bench',
  'scripts',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
const TIMEOUT_MS = 300_000;
/** What the type check of the project has found and keeps; the copy has it at the same path. */
const CHECKED = join('.cache', 'typecheck.tsbuildinfo');

let copy: string;
let steps: Step[];

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'extending-'));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  steps = stepsOf(await readFile(join(ROOT, 'docs', 'extending.md'), 'utf8'));
  for (const step of steps) await apply(step);
});

afterAll(() => rm(copy, { recursive: true, force: true }));

async function apply(step: Step): Promise<void> {
  const file = join(copy, step.path);
  if (step.type === 'change') {
    await writeFile(file, changed(await readFile(file, 'utf8'), step));
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, step.text);
}

/**
 * Gives the copy what the last type check of the project has kept, so that only what the page changes is checked again. Types
 * of packages are where the symbolic link leads.
 */
async function keepChecked(): Promise<void> {
  const known = await readFile(join(ROOT, CHECKED), 'utf8').catch(() => undefined);
  if (known === undefined) return;
  const folder = dirname(join(copy, CHECKED));
  await mkdir(folder);
  const packages = relative(folder, join(ROOT, 'node_modules'));
  await writeFile(join(copy, CHECKED), known.replaceAll('"../node_modules/', `"${packages}/`));
}

/** Runs a program of node_modules in the copy; rejects with its output when it fails. */
async function run(name: string, ...args: string[]): Promise<string> {
  const program = join(copy, 'node_modules', '.bin', name);
  const options = { cwd: copy, env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${name} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  }
}

it('the page shows one of each', () => {
  const created = steps.filter(({ type }) => type === 'create').map(({ path }) => path);
  for (const folder of [
    'kinds',
    'controllers',
    'server/operations/admission',
    'server/operations/subresources',
    'scheduler',
    'store',
    'cli',
  ]) {
    expect(created).toContainEqual(expect.stringContaining(`src/${folder}/`));
  }
});

it(
  'passes the type check',
  async () => {
    await keepChecked();
    const flags = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', CHECKED];
    expect(await run('tsc', '--noEmit', '-p', '.', ...flags)).toBe('');
  },
  TIMEOUT_MS,
);

it(
  'passes the tests on the page, and the suites over everything that is listed',
  async () => {
    const tests = steps.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
    expect(tests.length).toBeGreaterThan(4);
    const suites = [
      'test/examples',
      'test/kinds/descriptions.test.ts',
      'test/rights',
      'src/store/drivers.programs.test.ts',
    ];
    expect(await run('vitest', 'run', ...tests, ...suites)).toContain('passed');
  },
  TIMEOUT_MS,
);
