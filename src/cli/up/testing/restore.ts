/** Fills an empty store with the objects of a saved test cluster. */
import { fileProblem } from '../../../base/files/file-problem.ts';
import { readImage } from '../../../store/memory/image-file.ts';
import type { StoreImage } from '../../../store/memory/memory-store.ts';
import type { Row, Store } from '../../../store/store.ts';
import { CliError } from '../../output/cli-error.ts';
import type { TestingFlags } from './flags.ts';

const BATCH_ROWS = 100;
const ROOT = '/registry/';
/** Its keys differ from those of this cluster; the controller issues new tokens. */
const TOKEN_SECRET = 'kubernetes.io/service-account-token';

/** Reads what can be restored of the file of `--restore`; undefined when there is none. */
export async function readRestore({ restore: file }: Pick<TestingFlags, 'restore'>): Promise<StoreImage | undefined> {
  if (file === undefined) return undefined;
  try {
    const { revision, rows } = readImage(file).image;
    return { revision, rows: rows.filter((row) => !isTokenSecret(row)) };
  } catch (cause) {
    throw new CliError(`--restore ${file} cannot be used: ${fileProblem(cause)}`, { cause });
  }
}

/** Resolves with the number of objects. */
export async function restoreInto(store: Store, { rows }: StoreImage): Promise<number> {
  const { rows: present } = await store.list(ROOT, { limit: 1 });
  if (present.length > 0) {
    throw new CliError('--restore needs an empty store, and this cluster has objects; choose another --data-dir');
  }
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    await store.commit(rows.slice(at, at + BATCH_ROWS).map(({ key, value }) => ({ key, value, expect: 0 })));
  }
  return rows.length;
}

function isTokenSecret({ key, value }: Row): boolean {
  if (!key.startsWith(`${ROOT}core/secrets/`)) return false;
  try {
    return JSON.parse(value.toString()).type === TOKEN_SECRET;
  } catch (cause) {
    throw new Error(`${key} is damaged`, { cause });
  }
}
