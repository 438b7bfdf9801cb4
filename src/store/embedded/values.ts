/** Reads all values of a store on disk, also while another process uses it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { StoredValue } from '../driver.ts';
import { StoreDenied } from './errors.ts';
import { decodeEntry, decodeRecord, readPosition } from './layout.ts';

/** Calls `visit` with each value, in one state of the file. */
export async function visitValues(directory: string, visit: (stored: StoredValue) => void): Promise<void> {
  const path = join(directory, 'data.mdb');
  if (!(await stat(path).catch(() => undefined))) throw new StoreDenied(`there is no store in ${directory}`);
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const environment = open<Buffer, Buffer>({ path, readOnly: true, maxDbs: 3, ...binary });
  try {
    const index = environment.openDB<Buffer, Buffer>('index', binary);
    const log = environment.openDB<Buffer, Buffer>('log', binary);
    const transaction = environment.useReadTransaction();
    try {
      for (const { key: encoded, value: bytes } of log.getRange({ transaction })) {
        const { key, value } = decodeRecord(bytes);
        if (value === null) continue;
        const entry = index.get(Buffer.from(key), { transaction });
        const { revision, index: within } = readPosition(encoded, 0);
        const newest = entry && decodeEntry(entry);
        visit({ key, value, isNewest: newest?.revision === revision && newest.index === within });
      }
    } finally {
      transaction.done();
    }
  } finally {
    await environment.close();
  }
}
