/** `qd encryption show` and `rotate`: work on the key file, and signal the process that runs the cluster. */

import { keyFileIn, readKeys } from '../../assembly/store/encryption.ts';
import { writeWhole } from '../../base/files/own/files.ts';
import { systemRandom } from '../../base/random.ts';
import { formatKeyring, newKey } from '../../store/encryption/keyring.ts';
import { directoryOf } from '../clusters/choice.ts';
import { withCluster } from '../process/cluster-process.ts';
import { ROTATED_SIGNAL } from '../process/signals.ts';
import { rememberedIn } from '../up/directory/directory.ts';
import type { KeysFlags } from './flags.ts';

/** Returns the key file that the flag names, or that the cluster was last started with. */
export async function keyFileOf(flags: KeysFlags): Promise<string> {
  const directory = await directoryOf(flags);
  return flags.encryptionKeyFile ?? (await rememberedIn(directory)).encryptionKeyFile ?? keyFileIn(directory);
}

export async function showKeys(flags: KeysFlags): Promise<void> {
  const [current, ...older] = await readKeys(await keyFileOf(flags));
  print(`${current.id}  current`);
  for (const { id } of older) print(`${id}  replaced`);
}

export async function rotateKeys(flags: KeysFlags): Promise<void> {
  const file = await keyFileOf(flags);
  await withCluster(await directoryOf(flags), async (pid) => {
    const keys = await readKeys(file);
    const key = newKey(systemRandom);
    await writeWhole(file, formatKeyring([key, ...keys]));
    if (pid !== undefined) process.kill(pid, ROTATED_SIGNAL);
    const when = pid === undefined ? 'the next start re-encrypts' : `process ${pid} re-encrypts`;
    print(`${key.id} is the current key; ${when} all Secrets with it`);
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
