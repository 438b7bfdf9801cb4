/** `qd encryption`: works on the key file, and tells the process that has the cluster. */
import { systemRandom } from '../../base/random.ts';
import { formatKeyring, newKey } from '../../store/encryption/keyring.ts';
import { directoryOf, withCluster } from '../process/cluster-process.ts';
import { writeWhole } from '../process/files.ts';
import { ROTATED } from '../up/identity/renewing.ts';
import { keyFileIn, readKeys } from '../up/store/encryption.ts';
import type { KeysFlags } from './flags.ts';

export const fileOf = (flags: KeysFlags) => flags.encryptionKeyFile ?? keyFileIn(directoryOf(flags));

export async function showKeys(flags: KeysFlags): Promise<void> {
  const [current, ...older] = await readKeys(fileOf(flags));
  say(`${current.id}  encrypts`);
  for (const { id } of older) say(`${id}  decrypts what is left of it`);
}

export async function rotateKeys(flags: KeysFlags): Promise<void> {
  const file = fileOf(flags);
  await withCluster(flags, async (pid) => {
    const keys = await readKeys(file);
    const key = newKey(systemRandom);
    await writeWhole(file, formatKeyring([key, ...keys]));
    if (pid !== undefined) process.kill(pid, ROTATED);
    const when = pid === undefined ? 'the next start writes' : `process ${pid} writes`;
    say(`${key.id} is the key now; ${when} all Secrets anew with it`);
  });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
