/**
 * Builds the programs into dist/: one CommonJS file each, so that a running program loads nothing from disk while dist/ is
 * rebuilt. Other scripts call `build()`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, root } from './setup.mjs';

const dist = join(root, 'dist');
const HASHED = ['qd.main-', 'qd.agent-', 'qd.front-', 'qd.keeper-', 'qd.network-', 'qd.yaml-', 'qd.testing-'];

/** Makes a bundle a function, both as the value of a script and as a CommonJS module: src/base/programs/compiled-bundle.ts. */
const FUNCTION = {
  banner: {
    js: '(typeof module === "object" ? module : {}).exports = (function (require, module, exports, __filename, __dirname) {',
  },
  footer: { js: '})' },
};

/** V8 compiles for the flags that it runs with, and not at all where Node applies source maps. */
const NO_OPTIONS = { NODE_OPTIONS: '' };

/**
 * Builds, unless dist/ is newer than all sources. `keepsCode`: with the code that V8 compiles, which takes longer than the rest.
 * `hasMaps`: with source maps.
 */
export async function build({ keepsCode = true, hasMaps = true } = {}) {
  if (isUpToDate()) return;
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}\n');
  const maps = { sourcemap: hasMaps && 'linked' };
  const parts = {
    'qd.front': 'src/cli/entries/front.ts',
    'qd.keeper': 'src/cli/entries/keeper.ts',
    'qd.network': 'src/cli/entries/network-daemon.ts',
    'qd.yaml': 'src/cli/entries/yaml.ts',
  };
  const [front, keeper, daemon, yaml] = await hashed(parts, maps);
  const constants = {
    BUILD: JSON.stringify(provenance()),
    FRONT_NAME: JSON.stringify(front),
    KEEPER_NAME: JSON.stringify(keeper),
    DAEMON_NAME: JSON.stringify(daemon),
    YAML_NAME: JSON.stringify(yaml),
  };
  const both = { 'qd.main': 'src/cli/entries/qd.ts', 'qd.agent': 'src/cli/entries/qd-agent.ts' };
  const [main, agent] = await hashed(both, { define: constants, ...FUNCTION, ...maps });
  // With line breaks and the names of source files: its traces, and the line that Node prints of an uncaught error, are for
  // people who test their own programs, and most of them run Node without source maps.
  const readable = { minifyWhitespace: false };
  const [testing] = await hashed({ 'qd.testing': 'src/testing/index.ts' }, { ...FUNCTION, ...readable, ...maps });
  const programs = {
    'qd.next': 'src/cli/entries/launch.ts',
    'qdfed.next': 'src/cli/entries/qdfed.ts',
    'testing.next': 'src/testing/package-entry.ts',
  };
  const define = {
    BUNDLE_NAME: JSON.stringify(main),
    AGENT_BUNDLE_NAME: JSON.stringify(agent),
    TESTING_BUNDLE_NAME: JSON.stringify(testing),
  };
  await bundle(programs, { define, sourcemap: false });
  copyFileSync(join(root, 'src/testing/contract.ts'), join(dist, 'testing.d.ts'));
  for (const program of ['testing', 'qdfed', 'qd']) {
    chmodSync(join(dist, `${program}.next.js`), 0o755);
    renameSync(join(dist, `${program}.next.js`), join(dist, `${program}.js`));
  }
  if (keepsCode) {
    await keepCompiled();
    keepTestingCompiled(testing);
  }
  const isOld = (file) =>
    HASHED.some((name) => file.startsWith(name)) &&
    ![main, agent, front, keeper, daemon, yaml, testing].some((name) => file.startsWith(name));
  for (const file of readdirSync(dist).filter(isOld)) rmSync(join(dist, file), { force: true });
}

/**
 * Builds bundles whose names contain a hash of their content, and returns the names in the order of the entry points. What they
 * have in common is parsed once.
 */
async function hashed(entryPoints, options) {
  const { metafile } = await bundle(entryPoints, { entryNames: '[name]-[hash]', metafile: true, ...options });
  const outputs = Object.entries(metafile.outputs);
  return Object.values(entryPoints).map((source) =>
    basename(outputs.find(([, output]) => output.entryPoint === source)[0]),
  );
}

/** The commit that the program is built from: the same sources give the same program. */
function provenance() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
  const last = git('log', '-1', '--date=format-local:%Y-%m-%dT%H:%M:%SZ', '--format=%H %cd');
  const [commit, date] = last.status === 0 ? last.stdout.trim().split(' ') : [];
  if (!commit) return { commit: '', date: '1970-01-01T00:00:00Z', isClean: true };
  return { commit, date, isClean: git('status', '--porcelain', '--untracked-files=no').stdout === '' };
}

/** Folders count, too: they change when a file in them is removed. */
function isUpToDate() {
  const built = statSync(join(dist, 'qd.js'), { throwIfNoEntry: false });
  if (!built) return false;
  const folders = ['src', 'scripts'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
  ]);
  return [...folders, 'package.json', 'package-lock.json'].every(
    (path) => statSync(join(root, path)).mtimeMs < built.mtimeMs,
  );
}

/** Programs for the shell and for Perl, which modules read with `programText`: a bundle contains their text. */
const PROGRAMS = {
  name: 'programs',
  setup({ onLoad }) {
    const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => /\.(sh|pl)$/.test(file));
    const folders = [...new Set(files.map((file) => dirname(join(root, 'src', file))))];
    const paths = folders.map((folder) => folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
    onLoad({ filter: new RegExp(`^(${paths})/[^/]+\\.ts$`) }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(READING, (_, file) =>
        JSON.stringify(readFileSync(join(dirname(path), file), 'utf8')),
      ),
      loader: 'ts',
    }));
  },
};
const READING = /programText\(new URL\('([^']+)', import\.meta\.url\)\)/g;

/** Bundles a program as it is shipped, with further options of esbuild. */
export async function bundle(entryPoints, { plugins = [], ...options }) {
  const esbuild = await import('esbuild');
  return esbuild.build({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // Loads its prebuilt binary relative to its own folder.
    external: ['lmdb'],
    // Names are not minified, for readable stack traces; other ways to keep them cost time at run time.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    // There is none in a bundle: a program that is read in another way than PROGRAMS expects.
    logOverride: { 'empty-import-meta': 'error' },
    plugins: [...plugins, PROGRAMS],
    ...options,
  });
}

/**
 * Starts and stops a cluster, so that launch.ts can keep the code that V8 compiled for it: first in a new directory, then once
 * more, because a start that finds a store and a kubeconfig runs other code. V8 keeps what it has read from the first time.
 */
async function keepCompiled() {
  const directory = mkdtempSync(join(tmpdir(), 'qd-build-'));
  try {
    for (const start of ['new', 'again']) await runOnce(directory, start);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  // Not what an earlier process has kept for the user: the code of the package is checked.
  const env = { ...process.env, ...NO_OPTIONS, QUARTERDECK_CHECK_COMPILED: 'true', NODE_DISABLE_COMPILE_CACHE: '1' };
  const { status } = spawnSync(process.execPath, [join(dist, 'qd.js')], { stdio: 'inherit', env });
  if (status !== 0) throw new Error('V8 rejects the code that was compiled during the build');
}

async function runOnce(directory, start) {
  const flags = [
    '--data-dir',
    join(directory, 'data'),
    '--kubeconfig',
    join(directory, 'kubeconfig'),
    '--port',
    '0',
    '--runtime',
    'simulated',
  ];
  const child = spawn(process.execPath, [join(dist, 'qd.js'), 'up', ...flags, '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...NO_OPTIONS, HOME: directory, QUARTERDECK_KEEP_COMPILED: 'true' },
  });
  child.stdout.on('data', (chunk) => {
    if (String(chunk).includes('Ready')) child.kill('SIGTERM');
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the built program exited with code ${code} (${start} directory)`);
}

/** Runs clusters of `quarterdeck/testing`, and keeps what they have in common and the code that V8 compiled for them. */
function keepTestingCompiled(bundle) {
  for (const part of ['image', 'code']) {
    const args = [join(root, 'scripts', 'compile-testing.mjs'), join(dist, bundle), part];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...NO_OPTIONS } });
    if (status !== 0) throw new Error(`the ${part} of quarterdeck/testing could not be made`);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensurePackages();
  await build();
}
