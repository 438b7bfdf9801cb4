/** Starts a process runtime for the tests, in a separate directory. */
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { STRICT_GUARD } from '../../src/base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { platformOf } from '../../src/node/images/content/platform.ts';
import { Registry } from '../../src/node/images/registry/registry.ts';
import { DirectoryImageStore } from '../../src/node/images/store/directory-store.ts';
import { openProcessRuntime } from '../../src/node/process/process-runtime.ts';
import type { RuntimeUnderTest } from './world.ts';

const KEEPER = [
  process.execPath,
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('../../src/cli/entries/keeper.ts', import.meta.url)),
];

let count = 0;

/** `flags` are those of the keeper. */
export async function prepareProcess(
  flags: readonly string[] = [],
  podCidr = `10.232.${process.pid % 250}.${((count + 1) % 4) * 64}/26`,
): Promise<RuntimeUnderTest & { readonly name: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'qd-process-'));
  const name = `t${process.pid}-${++count}`;
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
        keeper: [...KEEPER, ...flags],
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
