/** Reads all values of a store on disk, also while another process uses it. */

import type { StoredValue } from '../driver.ts';
import { StoreDamaged } from '../store.ts';
import { decodeEntry, decodeRecord, isIntact, readPosition } from './layout.ts';
import { readStore } from './read-only.ts';

const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** Calls `visit` with each value in one state of the file. Rejects with StoreDamaged when one cannot be read. */
export async function visitValues(directory: string, visit: (stored: StoredValue) => void): Promise<void> {
  await readStore(directory, ({ environment }) => {
    const index = environment.openDB<Buffer, Buffer>('index', binary);
    const log = environment.openDB<Buffer, Buffer>('log', binary);
    const transaction = environment.useReadTransaction();
    try {
      for (const { key: encoded, value: bytes } of log.getRange({ transaction })) {
        const { revision, index: within } = readPosition(encoded, 0);
        if (!isIntact(bytes)) throw new StoreDamaged(`the value of revision ${revision} in ${directory} is damaged`);
        const { key, value } = decodeRecord(bytes);
        if (value === null) continue;
        const entry = index.get(Buffer.from(key), { transaction });
        const newest = entry && decodeEntry(entry);
        visit({ key, value, isNewest: newest?.revision === revision && newest.index === within });
      }
    } finally {
      transaction.done();
    }
  });
}
