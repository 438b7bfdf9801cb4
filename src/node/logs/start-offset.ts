/** Where in a log file to begin, without reading all of it. */
import type { FileHandle } from '../../base/files/own/own-files.ts';
import { entryTime } from './entries.ts';

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Where the last lines begin. The file is read backwards, in blocks. */
export async function tailOffset(file: FileHandle, size: number, lines: number): Promise<number> {
  if (lines <= 0) return size;
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let found = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    if (bytesRead === 0) return start;
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (block[at] !== NEWLINE) continue;
      // The newline at the end of the file ends the last line.
      if (start + at === size - 1) continue;
      found++;
      if (found === lines) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

/** Where the first entry of a time, or an earlier one, begins: found by bisection, because entries are in order. */
export async function sinceOffset(file: FileHandle, size: number, since: number): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  /** Everything before `low` is older. */
  let low = 0;
  let high = size;
  while (high - low > BLOCK_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const { bytesRead } = await file.read(block, 0, BLOCK_BYTES, middle);
    const bytes = block.subarray(0, bytesRead);
    const line = bytes.indexOf(NEWLINE) + 1;
    const time = line === 0 ? Number.NaN : entryTime(bytes, line);
    // Lines that cannot be understood are found by reading on from before them.
    if (time < since) low = middle + line;
    else high = middle;
  }
  return low;
}
