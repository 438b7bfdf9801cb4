/** The process runtime as root on a machine without an OCI runtime: pods are processes of nobody, with addresses of their own. */
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { describePlain } from './contract/plain.ts';
import { prepareProcess } from './process.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('the tests of the process runtime are skipped: they need root');

describe.skipIf(!isRoot)('as root without an OCI runtime', () => {
  describePlain(() => prepareProcess([`--programs=${withoutRuntimes()}`]));
});

/** A folder with the programs of the system, except for OCI runtimes. */
function withoutRuntimes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'qd-programs-'));
  for (const name of ['ip', 'nft', 'nsenter', 'setpriv', 'script', 'stty', 'mount', 'umount', 'unshare']) {
    const found = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
      .map((path) => join(path, name))
      .find((path) => existsSync(path));
    if (found) symlinkSync(found, join(folder, name));
  }
  return folder;
}
