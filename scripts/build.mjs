/**
 * Builds the programs into dist/: one CommonJS file each, so that a running program needs nothing more from the disk when
 * dist/ is built anew. `build()` is what the other scripts call.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, root } from './setup.mjs';

const dist = join(root, 'dist');

export async function build() {
  const { build: bundle } = await import('esbuild');
  rmSync(dist, { recursive: true, force: true });
  await bundle({
    absWorkingDir: root,
    entryPoints: { qd: 'src/cli/launch.ts', 'qd.main': 'src/cli/qd.ts', qdfed: 'src/cli/qdfed.ts' },
    outdir: dist,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // Finds its prebuilt binary relative to its own folder.
    external: ['lmdb'],
    // Names stay: they stand in stack traces, and keeping them any other way costs time at run time.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'external',
    logLevel: 'warning',
  });
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}\n');
  for (const program of ['qd.js', 'qdfed.js']) chmodSync(join(dist, program), 0o755);
  await keepCompiled();
}

/** Starts a cluster and stops it, so that launch.ts can keep what V8 compiled for that. */
async function keepCompiled() {
  const directory = mkdtempSync(join(tmpdir(), 'qd-build-'));
  const flags = [
    '--data-dir',
    join(directory, 'data'),
    '--kubeconfig',
    join(directory, 'kubeconfig'),
    '--port',
    '0',
    '--log-level',
    'error',
  ];
  const child = spawn(process.execPath, [join(dist, 'qd.js'), 'up', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, QUARTERDECK_KEEP_COMPILED: 'true' },
  });
  child.stdout.on('data', (chunk) => {
    if (String(chunk).includes('Ready')) child.kill('SIGTERM');
  });
  const [code] = await once(child, 'exit');
  rmSync(directory, { recursive: true, force: true });
  if (code !== 0) throw new Error(`the built program ended with ${code}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensurePackages();
  await build();
}
