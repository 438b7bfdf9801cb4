/**
 * `npm test`: installs what is missing, builds, and runs all checks and tests. With arguments, it builds and runs the
 * matching tests (`npm test -- src/store`). `npm run test:fast` leaves out what starts programs, and needs none;
 * `npm run test:changed` runs the tests that import what has changed since a commit (`-- main`; without one, since the last).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureKubectls } from './kubectl.mjs';
import { ensureNodeReleases } from './node-releases.mjs';
import { CONTAINER_TOOLS, ensurePackages, ensureTools, local, root, run } from './setup.mjs';

const CHECKS = [
  // Each thread of the compiler checks some files, and what they import again. Less garbage collection is less work, too.
  { script: 'typecheck', flags: ['--singleThreaded'], env: { GOGC: '400' } },
  { script: 'lint' },
  { script: 'dead-code' },
];
const FAST_PROJECTS = ['--project', 'fast', '--project', 'isolated'];

const [mode, ...rest] = process.argv.slice(2);
ensurePackages();
if (mode === '--fast') {
  await together(checks());
  await test(...FAST_PROJECTS, ...rest);
} else if (mode === '--changed') {
  ensurePrograms();
  await together([step('build', build), ...checks()]);
  await test('--changed', ...rest);
} else {
  ensurePrograms();
  const filters = process.argv.slice(2);
  await together([step('build', build), ...(filters.length === 0 ? checks() : [])]);
  await test(...filters);
}

function ensurePrograms() {
  const missing = [
    ...ensureTools(['etcd', 'dig', 'named', 'shellcheck', 'age', 'swift', ...CONTAINER_TOOLS]).map(
      (name) => `${name} is not installed`,
    ),
    ...ensureKubectls(),
    ...ensureNodeReleases(),
  ];
  for (const reason of [...missing, ...missingSchemas()]) console.log(`setup: suites are skipped: ${reason}`);
  if (missing.length === 0 || process.env.CI !== 'true') return;
  console.error('setup: nothing may be skipped with CI=true');
  process.exit(1);
}

/** They are not ours to distribute: a clone need not have them, in CI either. */
function missingSchemas() {
  const directory = process.env.QUARTERDECK_REFERENCE ?? join(root, '..', 'shared', 'reference');
  const isThere = existsSync(join(directory, 'openapi-1.36.json'));
  return isThere ? [] : [`no published schemas in ${directory}; QUARTERDECK_REFERENCE names their directory`];
}

/** Starts the checks, at the same time: each uses one core for most of its time. */
function checks() {
  return CHECKS.map(({ script, flags = [], env = {} }) =>
    step(script, () => finished('npm', ['run', '-s', script, '--', ...flags], { ...process.env, ...env })),
  );
}

/** Waits for all of them, so that none is left running, and ends this process if one has failed. */
async function together(steps) {
  const failed = (await Promise.allSettled(steps)).filter(({ status }) => status === 'rejected');
  for (const { reason } of failed) console.error(reason.message);
  if (failed.length > 0) process.exit(1);
}

async function test(...args) {
  console.log('\n── tests');
  await step('tests', () => run(local('vitest'), ['run', ...args]));
}

/** Runs a program beside others: its output is written in one piece. */
async function finished(program, args, env) {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const [code] = await once(child, 'close');
  process.stdout.write(Buffer.concat(output));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed`);
}

async function step(name, task) {
  const start = performance.now();
  await task();
  console.log(`── ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
