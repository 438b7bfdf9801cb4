/** `npm run bench`: installs what is missing, builds, and measures. Flags are those of bench/main.ts. */
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensurePackages, ensureTools, root, run } from './setup.mjs';

ensurePackages();
ensureTools(['wrk', 'etcd', 'dnsperf', 'containerd', 'runc', 'cni', 'busybox', 'ip', 'iptables', 'nft']);
await build();
const { build: bundle } = await import('esbuild');
// Bundled, so that the bare server starts as fast as it can.
await bundle({
  absWorkingDir: root,
  entryPoints: ['bench/main.ts', 'bench/bare.ts', 'bench/pods/relay.ts'],
  outbase: 'bench',
  outdir: '.cache/bench',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
run(process.execPath, [join(root, '.cache', 'bench', 'main.mjs'), ...process.argv.slice(2)]);
