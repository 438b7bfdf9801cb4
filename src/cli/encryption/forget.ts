/** `qd encryption forget`: removes keys from the key file that nothing in the store needs any more. */
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { silent } from '../../base/log.ts';
import { visitValues } from '../../store/embedded/values.ts';
import { type KeyUse, KeyUses } from '../../store/encryption/key-use.ts';
import { formatKeyring, type Key } from '../../store/encryption/keyring.ts';
import type { Store } from '../../store/index.ts';
import { CliError } from '../output/cli-error.ts';
import { directoryOf, withCluster } from '../process/cluster-process.ts';
import { writeWhole } from '../process/files.ts';
import { rememberedIn } from '../up/directory/directory.ts';
import { ROTATED } from '../up/identity/renewing.ts';
import { readKeys } from '../up/store/encryption.ts';
import { openStore } from '../up/store/store.ts';
import { fileOf, say } from './encryption.ts';
import type { KeysFlags } from './flags.ts';

export async function forgetKeys(names: readonly string[], flags: KeysFlags): Promise<void> {
  const file = fileOf(flags);
  const directory = directoryOf(flags);
  await withCluster(flags, async (pid) => {
    const [current, ...older] = await readKeys(file);
    const going = chosen(names, current, older);
    if (going.length === 0) return say(`${current.id} is the only key`);
    const uses = await usesIn(directory, { pid, going });
    for (const { id } of going) refuseIfNeeded(id, uses.of(id));
    if (pid !== undefined && uses.of(current.id).stored === 0) {
      throw new CliError(
        `nothing is encrypted with ${current.id} yet: whether process ${pid} uses it is not known; stop it first`,
      );
    }
    await writeWhole(file, formatKeyring([current, ...older.filter((key) => !going.includes(key))]));
    if (pid !== undefined) process.kill(pid, ROTATED);
    say(`forgot ${going.map(({ id }) => id).join(', ')}; snapshots from before cannot be read without a copy of it`);
  });
}

function chosen(names: readonly string[], current: Key, older: readonly Key[]): readonly Key[] {
  if (names.length === 0) return older;
  if (names.includes(current.id))
    throw new CliError(`${current.id} is the key in use; qd encryption rotate makes another`);
  return names.map((name) => {
    const key = older.find(({ id }) => id === name);
    if (!key) throw new CliError(`there is no key ${name}; qd encryption show names those there are`);
    return key;
  });
}

function refuseIfNeeded(id: string, { stored, history }: KeyUse): void {
  if (stored > 0) {
    const what = stored === 1 ? '1 Secret is' : `${stored} Secrets are`;
    throw new CliError(
      `${what} still encrypted with ${id}; a start of the cluster writes them anew with the newest key`,
    );
  }
  if (history > 0) {
    throw new CliError(`history still holds Secrets under ${id}; it is forgotten with time, as others are written`);
  }
}

interface Looking {
  readonly pid: number | undefined;
  readonly going: readonly Key[];
}

/** Which keys the cluster's store needs, as it is on disk. */
async function usesIn(directory: string, { pid, going }: Looking): Promise<KeyUses> {
  const settings = await rememberedIn(directory);
  switch (settings.store) {
    case undefined:
    case 'embedded': {
      const uses = new KeyUses();
      await visitValues(join(directory, 'store'), ({ value, isNewest }) => uses.add(value, isNewest));
      return uses;
    }
    case 'etcd':
      return usesInEtcd(await openStore({ ...OPENING, settings: { ...settings, store: 'etcd' }, directory }), going);
    case 'memory':
      if (pid === undefined) return new KeyUses();
      throw new CliError(`process ${pid} keeps its objects in memory, where nobody else can look; stop it first`);
  }
}

const OPENING = { flags: {}, clock: systemClock, log: silent };
const PAGE = 500;

/** Where nothing that is stored needs them, history is forgotten, too: etcd cannot be asked what is in it. */
async function usesInEtcd(store: Store, going: readonly Key[]): Promise<KeyUses> {
  const uses = new KeyUses();
  try {
    let page = await store.list('', { limit: PAGE });
    const { revision } = page;
    for (;;) {
      for (const { value } of page.rows) uses.add(value, true);
      const after = page.rows.at(-1)?.key;
      if (!page.more || after === undefined) break;
      page = await store.list('', { limit: PAGE, revision, after });
    }
    if (going.every(({ id }) => uses.of(id).stored === 0)) await store.compact(revision);
    return uses;
  } finally {
    await store.close();
  }
}
