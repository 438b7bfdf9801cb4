/**
 * `npm run bench`: installs what is missing, builds, and measures. Flags are those of bench/main.ts, and --compare and --rounds
 * (compare.mjs).
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, bundle } from './build.mjs';
import { compareWith } from './compare.mjs';
import { ensurePackages, ensureTools, root, run } from './setup.mjs';

const DEFAULT_ROUNDS = 3;
const OPTIONS = { compare: { type: 'string' }, rounds: { type: 'string', default: String(DEFAULT_ROUNDS) } };
const args = process.argv.slice(2);
const { values, tokens } = parseArgs({ args, options: OPTIONS, strict: false, tokens: true });
if (values.compare) {
  if (!(Number(values.rounds) >= 1)) throw new Error(`--rounds takes a number of at least 1, not ${values.rounds}`);
  const own = tokens
    .filter(({ name }) => name in OPTIONS)
    .flatMap((t) => (t.inlineValue ? t.index : [t.index, t.index + 1]));
  const flags = args.filter((_, index) => !own.includes(index));
  process.exit((await compareWith(values.compare, Number(values.rounds), flags)) ? 0 : 1);
}

ensurePackages();
ensureTools(['wrk', 'etcd', 'dnsperf', 'containerd', 'runc', 'cni', 'busybox', 'ip', 'iptables', 'nft']);
await build();
// Bundled, so that the bare server starts as fast as it can.
await bundle(['bench/main.ts', 'bench/bare.ts', 'bench/comparison.ts', 'bench/pods/relay.ts'], {
  outbase: 'bench',
  outdir: '.cache/bench',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  packages: 'external',
  sourcemap: false,
});
await bundleUntracked();
run(process.execPath, [join(root, '.cache', 'bench', 'main.mjs'), ...args]);

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
