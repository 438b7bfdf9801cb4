/** Starts a process runtime for the tests, in a separate directory. */
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { STRICT_GUARD } from '../../src/base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { platformOf } from '../../src/node/images/content/platform.ts';
import { Registry } from '../../src/node/images/registry/registry.ts';
import { DirectoryImageStore } from '../../src/node/images/store/directory-store.ts';
import { openProcessRuntime } from '../../src/node/process/process-runtime.ts';
import type { RuntimeUnderTest } from './world.ts';

const BUILD = new URL('../../scripts/build.mjs', import.meta.url).href;

let keeper: Promise<readonly string[]> | undefined;

/** Resolves with the command of a keeper. It is bundled once: transforming its sources took most of the time of each start. */
async function bundleKeeper(): Promise<readonly string[]> {
  const outdir = await mkdtemp(join(tmpdir(), 'qd-keeper-'));
  const { bundle } = await import(BUILD);
  const options = { outdir, outExtension: { '.js': '.cjs' }, sourcemap: false };
  await bundle({ keeper: 'src/cli/entries/keeper.ts' }, options);
  return [process.execPath, join(outdir, 'keeper.cjs')];
}

let count = 0;

/** `flags` are those of the keeper. */
export async function prepareProcess(
  flags: readonly string[] = [],
  podCidr = `10.232.${process.pid % 250}.${((count + 1) % 4) * 64}/26`,
): Promise<RuntimeUnderTest & { readonly name: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'qd-process-'));
  const name = `t${process.pid}-${++count}`;
  keeper ??= bundleKeeper();
  const command = [...(await keeper), ...flags];
  const images = await DirectoryImageStore.open({
    directory: join(directory, 'images'),
    clock: systemClock,
    log: silent,
    source: new Registry({ mirrors: {}, insecure: [] }, systemClock, STRICT_GUARD),
    platform: platformOf(process.arch),
    isRoot: process.getuid?.() === 0,
  });
  return {
    name,
    directory,
    open: () =>
      openProcessRuntime({
        directory: join(directory, 'runtime'),
        name,
        podCidr,
        images,
        hidden: async () => [directory],
        allowsHostImage: true,
        keeper: command,
        clock: systemClock,
        random: systemRandom,
      }),
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A folder with the programs of the system, except for OCI runtimes. */
export function programsWithoutRuntimes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'qd-programs-'));
  for (const name of ['ip', 'nft', 'nsenter', 'setpriv', 'script', 'stty', 'mount', 'umount', 'unshare']) {
    const found = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
      .map((path) => join(path, name))
      .find((path) => existsSync(path));
    if (found) symlinkSync(found, join(folder, name));
  }
  return folder;
}
