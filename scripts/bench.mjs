/** `npm run bench`: installs what is missing, builds, and measures. Flags are those of bench/main.ts. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, bundle } from './build.mjs';
import { ensurePackages, ensureTools, root, run } from './setup.mjs';

ensurePackages();
ensureTools(['wrk', 'etcd', 'dnsperf', 'containerd', 'runc', 'cni', 'busybox', 'ip', 'iptables', 'nft']);
await build();
// Bundled, so that the bare server starts as fast as it can.
await bundle(['bench/main.ts', 'bench/bare.ts', 'bench/pods/relay.ts'], {
  outbase: 'bench',
  outdir: '.cache/bench',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  packages: 'external',
  sourcemap: false,
});
await bundleUntracked();
run(process.execPath, [join(root, '.cache', 'bench', 'main.mjs'), ...process.argv.slice(2)]);

/** The program without `managedFields`: what they cost is the difference (bench/managed-fields.ts). */
async function bundleUntracked() {
  const front = readdirSync(join(root, 'dist')).find((file) => /^qd\.front-.*\.js$/.test(file));
  const nothing = 'export const trackCreate = () => undefined; export const trackUpdate = () => undefined;';
  await bundle(['src/cli/entries/qd.ts'], {
    outdir: undefined,
    outfile: '.cache/bench/untracked.cjs',
    define: { FRONT_NAME: JSON.stringify(join('..', '..', 'dist', front)) },
    plugins: [
      {
        name: 'untracked',
        setup: ({ onLoad }) =>
          onLoad({ filter: /managed-fields.track\.ts$/ }, () => ({ contents: nothing, loader: 'ts' })),
      },
    ],
  });
}
