import { basename, dirname } from 'node:path';
import { openRegularFile } from '../../base/files/inside/regular-file.ts';
import { type FileHandle, type FSWatcher, lstat, watch } from '../../base/files/own/own-files.ts';
import { type EntryFilter, EntryReader, entryTime } from './entries.ts';

/** Which part of a log is wanted. */
export interface LogSelection extends EntryFilter {
  /** True to go on until the container has ended. */
  readonly follow: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
}

export interface LogSource {
  /** The newest file. */
  readonly path: string;
  /** Resolves when the container has ended and its last output is in the file. Only for `follow`. */
  readonly ended: Promise<unknown>;
  /** Ends reading. */
  readonly signal?: AbortSignal | undefined;
}

/** While there is more to read. */
const CHUNK_BYTES = 256 * 1024;
/** Buffer for a client that waits for the next line. */
const FIRST_CHUNK_BYTES = 16 * 1024;

const WHOLE_FILE = { position: 0, end: Number.POSITIVE_INFINITY };

/** Reads a log as it is consumed. A file that is not there has no lines. */
export async function* readLog(source: LogSource, selection: LogSelection): AsyncGenerator<Buffer> {
  const { limitBytes, follow } = selection;
  const changes = follow ? new Changes(source) : undefined;
  let remaining = limitBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const bytes of entries(source, selection, changes)) {
      if (bytes.length >= remaining) {
        yield bytes.subarray(0, remaining);
        return;
      }
      remaining -= bytes.length;
      yield bytes;
    }
  } finally {
    changes?.close();
  }
}

async function* entries(
  { path, signal }: LogSource,
  selection: LogSelection,
  changes: Changes | undefined,
): AsyncGenerator<Buffer> {
  const reader = new EntryReader(selection);
  let chunk = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
  let file = await openRegularFile(path);
  try {
    let { position, end } = file ? await rangeOf(file, selection) : WHOLE_FILE;
    for (;;) {
      if (signal?.aborted) return;
      // Known before the rest is read: what a container writes at its end must not be missed.
      const isEnded = changes?.isEnded ?? true;
      changes?.clear();
      while (file) {
        const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, end - position), position);
        if (bytesRead === 0) break;
        position += bytesRead;
        const isFull = bytesRead === chunk.length;
        // The reader keeps what it is given: little text would keep much memory.
        const bytes = reader.push(isFull ? chunk : Buffer.from(chunk.subarray(0, bytesRead)));
        if (isFull) chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
        if (bytes.length > 0) yield bytes;
        if (signal?.aborted) return;
      }
      const next = changes && (await rotated(path, file, position));
      if (next) {
        await file?.close();
        file = next;
        ({ position, end } = WHOLE_FILE);
      } else if (isEnded || !changes) return;
      else {
        chunk = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
        await changes.wait();
      }
    }
  } finally {
    await file?.close();
  }
}

/** Where to read. Without `follow`, lines that are written meanwhile are left out: they would add to the last lines. */
async function rangeOf(file: FileHandle, { since, tailLines, follow }: LogSelection): Promise<typeof WHOLE_FILE> {
  const { size } = await file.stat();
  const first = since === undefined ? 0 : await sinceOffset(file, size, since);
  const position = tailLines === undefined ? first : Math.max(first, await tailOffset(file, size, tailLines));
  return { position, end: follow ? WHOLE_FILE.end : size };
}

/** The file that has taken the place of the one that is read; undefined as long as there is none. */
async function rotated(path: string, file: FileHandle | undefined, position: number): Promise<FileHandle | undefined> {
  if (!file) return openRegularFile(path);
  const [current, own] = await Promise.all([lstat(path).catch(() => undefined), file.stat()]);
  if (!current || current.ino === own.ino) return undefined;
  // Everything of the old file has been read: its writer opens the new one after its last line.
  return own.size > position ? undefined : openRegularFile(path);
}

/** Tracks changes of a log: lines, a new file, or its end. */
class Changes {
  isEnded = false;
  readonly #signal: AbortSignal | undefined;
  readonly #watcher: FSWatcher;
  #hasChanged = false;
  #wake: () => void = () => undefined;
  readonly #onAbort = () => this.#changed();

  constructor({ path, ended, signal }: LogSource) {
    this.#signal = signal;
    const name = basename(path);
    // The directory: a file that is rotated gets a successor of the same name.
    this.#watcher = watch(dirname(path), (_event, changed) => {
      if (changed === name || changed === null) this.#changed();
    });
    this.#watcher.on('error', () => this.#end());
    signal?.addEventListener('abort', this.#onAbort);
    ended.then(
      () => this.#end(),
      () => this.#end(),
    );
  }

  clear(): void {
    this.#hasChanged = false;
  }

  async wait(): Promise<void> {
    if (this.#hasChanged || this.isEnded || this.#signal?.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.#watcher.close();
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(): void {
    this.isEnded = true;
    this.#changed();
  }

  #changed(): void {
    this.#hasChanged = true;
    this.#wake();
  }
}

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Where the last lines begin. The file is read backwards, in blocks. */
async function tailOffset(file: FileHandle, size: number, lines: number): Promise<number> {
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
async function sinceOffset(file: FileHandle, size: number, since: number): Promise<number> {
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
