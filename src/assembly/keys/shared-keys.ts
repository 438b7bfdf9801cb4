/**
 * The keys that all servers of a cluster share, kept in the store: the certificate authority, the front-proxy authority and
 * the key that signs service account tokens, with those they replaced. The first server to start puts its own there, by compare-and-set; every other
 * adopts them into its DIR/pki. Serving and admin certificates are not shared: each server has its own.
 *
 * In the store they are encrypted with the keys of the encryption key file, which is therefore the one secret that an
 * operator gives to each server. See docs/decisions.
 */
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import { type Row, type Store, StoreConflict } from '../../store/index.ts';
import { AssemblyError } from '../assembly-error.ts';
import {
  CROSS,
  ensureClusterKeys,
  FORMER_KEYS,
  FRONT_PROXY_AUTHORITY_FILE,
  firstBlock,
  PREVIOUS_AUTHORITY,
} from './pki.ts';

/** Where the store keeps them: outside of /registry/, so that they are never served. */
export const SHARED_KEYS = '/quarterdeck/cluster-keys';

const AUTHORITY = 'ca.crt';
const FRONT_PROXY_KEY = `${FRONT_PROXY_AUTHORITY_FILE}.key` as const;

/** The files in DIR/pki that make a cluster the same, in the order in which they are written: see `openPki` for why the authority comes last. */
export const CLUSTER_KEY_FILES = [
  `${PREVIOUS_AUTHORITY}.key`,
  `${PREVIOUS_AUTHORITY}.crt`,
  CROSS,
  FORMER_KEYS,
  FRONT_PROXY_KEY,
  `${FRONT_PROXY_AUTHORITY_FILE}.crt`,
  'sa.key',
  'ca.key',
  AUTHORITY,
] as const;

type Files = Readonly<Partial<Record<(typeof CLUSTER_KEY_FILES)[number], string>>>;

const FORMAT = 1;

export interface SharedKeysOptions extends Tools {
  readonly store: Store;
  /** DIR/pki. */
  readonly directory: string;
}

/** Brings DIR/pki in line with the store. The keys of DIR/pki, created when missing, become the store's if it has none. */
export async function shareKeys({ store, directory, clock, random, log }: SharedKeysOptions): Promise<void> {
  for (;;) {
    const row = await store.get(SHARED_KEYS);
    const files = row && decode(row);
    if (files) await adopt(directory, files, { clock, log });
    // A release before this one knew no front-proxy authority.
    if (files?.[FRONT_PROXY_KEY] !== undefined) return;
    await ensureClusterKeys({ directory, clock, random });
    if (await write(store, await readFiles(directory), row?.revision ?? 0)) return;
  }
}

/** Changes the shared keys: `change` gets a directory with them, as DIR/pki has them. */
export async function changeSharedKeys(
  store: Store,
  scratchParent: string,
  change: (directory: string) => Promise<void>,
): Promise<void> {
  for (;;) {
    const row = await store.get(SHARED_KEYS);
    if (!row) throw new AssemblyError('the store has no keys of a cluster; start a server of the cluster first');
    const scratch = await mkdtemp(join(scratchParent, '.rotate-'));
    try {
      await writeFiles(scratch, decode(row));
      await change(scratch);
      if (await write(store, await readFiles(scratch), row.revision)) return;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
}

async function write(store: Store, files: Files, expect: number): Promise<boolean> {
  const value = Buffer.from(JSON.stringify({ format: FORMAT, files }));
  try {
    await store.commit([{ key: SHARED_KEYS, value, expect }]);
    return true;
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
}

function decode({ value }: Row): Files {
  const { format, files } = JSON.parse(value.toString()) as { format: number; files: Files };
  if (format > FORMAT) {
    throw new AssemblyError(
      `the keys in the store have format ${format}, and this qd supports ${FORMAT}: use a newer qd`,
    );
  }
  return files;
}

/** Keys that have nothing to do with the store's are moved aside: they may have been another cluster's. */
async function adopt(directory: string, files: Files, { clock, log }: { clock: Clock; log: Logger }): Promise<void> {
  await makeDirectories(directory, 0o700);
  const own = await readFiles(directory);
  const authority = own[AUTHORITY];
  if (authority !== undefined && !files[AUTHORITY]?.includes(firstBlock(authority))) {
    const aside = join(directory, `replaced-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`);
    await makeDirectories(aside, 0o700);
    for (const name of CLUSTER_KEY_FILES)
      if (own[name] !== undefined) await rename(join(directory, name), join(aside, name));
    log.warn('the keys of the store replace those of the data directory', { aside });
  }
  await writeFiles(directory, files);
}

async function readFiles(directory: string): Promise<Files> {
  const contents = await Promise.all(CLUSTER_KEY_FILES.map((name) => readIfThere(join(directory, name))));
  return Object.fromEntries(
    CLUSTER_KEY_FILES.flatMap((name, i) => (contents[i] === undefined ? [] : [[name, contents[i]]])),
  );
}

async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const name of CLUSTER_KEY_FILES) {
    const [path, content] = [join(directory, name), files[name]];
    if (content === undefined) await rm(path, { force: true });
    else if ((await readIfThere(path)) !== content) await writeWhole(path, content);
  }
}
