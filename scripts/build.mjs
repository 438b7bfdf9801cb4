/** Bundles the programs into dist/. `build()` is what the other scripts call. */
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, root } from './setup.mjs';

export async function build() {
  const { build: bundle } = await import('esbuild');
  const outdir = join(root, 'dist');
  rmSync(outdir, { recursive: true, force: true });
  await bundle({
    absWorkingDir: root,
    entryPoints: ['src/cli/qd.ts', 'src/cli/qdfed.ts'],
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // What a start does not need (YAML, gRPC, making certificates) stays in files of its own, loaded when first used.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    // Finds its prebuilt binary relative to its own folder.
    external: ['lmdb'],
    minify: true,
    keepNames: true,
    sourcemap: 'linked',
    legalComments: 'external',
    // CommonJS packages inside an ES module still ask for require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  for (const program of ['qd.js', 'qdfed.js']) chmodSync(join(outdir, program), 0o755);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensurePackages();
  await build();
}
