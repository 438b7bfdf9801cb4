/**
 * `npm test`: installs what is missing, builds, and runs all checks and tests. With arguments, it builds and runs the
 * matching tests (`npm test -- src/store`).
 */
import { build } from './build.mjs';
import { ensureKubectls } from './kubectl.mjs';
import { ensureNodeReleases } from './node-releases.mjs';
import { CONTAINER_TOOLS, ensurePackages, ensureTools, local, run } from './setup.mjs';

ensurePackages();
const missing = [
  ...ensureTools(['etcd', 'dig', 'named', ...CONTAINER_TOOLS]).map((name) => `${name} is not installed`),
  ...ensureKubectls(),
  ...ensureNodeReleases(),
];
if (missing.length > 0) {
  for (const reason of missing) console.log(`setup: suites are skipped: ${reason}`);
  if (process.env.CI === 'true') {
    console.error('setup: nothing may be skipped with CI=true');
    process.exit(1);
  }
}

const filters = process.argv.slice(2);
await step('build', () => build());
if (filters.length === 0) {
  for (const script of ['typecheck', 'lint', 'dead-code']) await step(script, () => run('npm', ['run', '-s', script]));
}
await step('tests', () => run(local('vitest'), ['run', ...filters]));

async function step(name, task) {
  console.log(`\n── ${name}`);
  const start = performance.now();
  await task();
  console.log(`── ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
