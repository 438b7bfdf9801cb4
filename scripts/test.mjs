/**
 * `npm test`: installs what is missing, builds, and runs all checks and tests. With arguments, it builds and runs the
 * matching tests (`npm test -- src/store`). `npm run test:fast` leaves out what starts programs, and needs none;
 * `npm run test:changed` runs the tests that import what has changed since a commit (`-- main`; without one, since the last).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureKubectls } from './kubectl.mjs';
import { ensureNodeReleases } from './node-releases.mjs';
import { CONTAINER_TOOLS, ensurePackages, ensureTools, local, root, run } from './setup.mjs';

const CHECKS = ['typecheck', 'lint', 'dead-code'];
const FAST_PROJECTS = ['--project', 'fast', '--project', 'isolated'];

const [mode, ...rest] = process.argv.slice(2);
ensurePackages();
if (mode === '--fast') {
  await check();
  await test(...FAST_PROJECTS, ...rest);
} else if (mode === '--changed') {
  ensurePrograms();
  await step('build', () => build());
  await check();
  await test('--changed', ...rest);
} else {
  ensurePrograms();
  await step('build', () => build());
  const filters = process.argv.slice(2);
  if (filters.length === 0) await check();
  await test(...filters);
}

function ensurePrograms() {
  const missing = [
    ...ensureTools(['etcd', 'dig', 'named', 'shellcheck', ...CONTAINER_TOOLS]).map(
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

async function check() {
  for (const script of CHECKS) await step(script, () => run('npm', ['run', '-s', script]));
}

async function test(...args) {
  await step('tests', () => run(local('vitest'), ['run', ...args]));
}

async function step(name, task) {
  console.log(`\n── ${name}`);
  const start = performance.now();
  await task();
  console.log(`── ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
