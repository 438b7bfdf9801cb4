/** `qd encryption forget`: removes keys from the key file that nothing in the store is encrypted with any more. */

import { archiveIn } from '../../assembly/store/archive.ts';
import { ENCRYPTED_PREFIXES, readKeys } from '../../assembly/store/encryption.ts';
import { writeWhole } from '../../base/files/own/files.ts';
import { silent } from '../../base/log.ts';
import { systemClock } from '../../base/time/clock.ts';
import { defaultStore, type StoreSettings, storeDriver } from '../../store/drivers.ts';
import { type KeyUse, KeyUses } from '../../store/encryption/key-use.ts';
import { formatKeyring, type Key } from '../../store/encryption/keyring.ts';
import { directoryOf } from '../clusters/choice.ts';
import { CliError } from '../output/cli-error.ts';
import { withCluster } from '../process/cluster-process.ts';
import { ROTATED_SIGNAL } from '../process/signals.ts';
import { rememberedIn } from '../up/directory/directory.ts';
import { keyFileOf, print } from './encryption.ts';
import type { KeysFlags } from './flags.ts';

export async function forgetKeys(ids: readonly string[], flags: KeysFlags): Promise<void> {
  const file = await keyFileOf(flags);
  const directory = await directoryOf(flags);
  await withCluster(directory, async (pid) => {
    const [current, ...older] = await readKeys(file);
    const obsolete = chosen(ids, current, older);
    if (obsolete.length === 0) return print(`${current.id} is the only key`);
    const uses = await usesIn(directory, { pid, obsolete });
    for (const { id } of obsolete) rejectIfUsed(id, uses.of(id));
    if (pid !== undefined && uses.of(current.id).stored === 0) {
      throw new CliError(
        `nothing is encrypted with ${current.id} yet, so process ${pid} may not have loaded it; stop the cluster first`,
      );
    }
    await writeWhole(file, formatKeyring([current, ...older.filter((key) => !obsolete.includes(key))]));
    if (pid !== undefined) process.kill(pid, ROTATED_SIGNAL);
    const removed = obsolete.map(({ id }) => id).join(', ');
    print(`removed ${removed}; snapshots that were encrypted with it need a copy of the key`);
  });
}

function chosen(ids: readonly string[], current: Key, older: readonly Key[]): readonly Key[] {
  if (ids.length === 0) return older;
  if (ids.includes(current.id)) {
    throw new CliError(`${current.id} is the current key; qd encryption rotate creates another one`);
  }
  return ids.map((id) => {
    const key = older.find((each) => each.id === id);
    if (!key) throw new CliError(`there is no key ${id}; qd encryption show lists the keys`);
    return key;
  });
}

function rejectIfUsed(id: string, { stored, history }: KeyUse): void {
  if (stored > 0) {
    const what = stored === 1 ? '1 Secret is' : `${stored} Secrets are`;
    throw new CliError(
      `${what} still encrypted with ${id}; the cluster re-encrypts them with the newest key at a start`,
    );
  }
  if (history > 0) {
    throw new CliError(
      `history still has Secrets encrypted with ${id}; they go with their age, or at once with qd history purge`,
    );
  }
}

/** History on disk outlives the store's own. */
async function visitArchived(directory: string, uses: KeyUses): Promise<void> {
  const { visitArchive } = await import('../../store/archive/values.ts');
  for (const prefix of ENCRYPTED_PREFIXES) {
    await visitArchive(archiveIn(directory), prefix, (value) => uses.add(value, false));
  }
}

interface Search {
  readonly pid: number | undefined;
  readonly obsolete: readonly Key[];
}

/** Which keys the values in the cluster's store are encrypted with. */
async function usesIn(directory: string, { pid, obsolete }: Search): Promise<KeyUses> {
  const settings = await rememberedIn(directory);
  const driver = storeDriver(settings.store ?? defaultStore);
  const uses = new KeyUses();
  if (!driver.inspect) {
    if (pid === undefined) return uses;
    throw new CliError(`process ${pid} keeps objects in ${driver.location}, which only it can read; stop it first`);
  }
  const context = { directory, clock: systemClock, log: silent };
  const values = await driver.inspect(settings as StoreSettings, context);
  try {
    await values.visit(({ value, isNewest }) => uses.add(value, isNewest));
    await visitArchived(directory, uses);
    if (obsolete.every(({ id }) => uses.of(id).stored === 0)) await values.forgetUnreadableHistory();
    return uses;
  } finally {
    await values.close();
  }
}
