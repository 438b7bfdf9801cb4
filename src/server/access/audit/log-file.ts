import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Backend } from './audit.ts';

export interface LogFileOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly path: string;
  /** Size at which the file is rotated. */
  readonly maxBytes: number;
  /** Number of rotated files that are kept; 0 means all. */
  readonly maxBackups: number;
  /** Age after which rotated files are deleted; 0 means never. */
  readonly maxAgeMs: number;
}

/** Limit for lines waiting for the disk; further ones are dropped and counted. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Time for which lines are collected before a write: writing a few costs as much as formatting them. */
const FLUSH_INTERVAL_MS = 20;

/**
 * Writes audit events to a file that is rotated when it is full: `audit.log`, and `audit-2030-01-01T00-00-00.000.log`
 * for older lines. Lines are collected briefly and then written together; no request waits for that. Only the owner can
 * read the files.
 */
export class LogFile implements Backend {
  #lines: string[] = [];
  #bufferedBytes = 0;
  #file: FileHandle | undefined;
  #size = 0;
  #writing: Promise<void> | undefined;
  #flushTimer: Timer | undefined;
  #isFailing = false;
  #lastRotation = 0;
  #dropped = 0;

  constructor(private readonly options: LogFileOptions) {}

  get dropped() {
    return { log: this.#dropped };
  }

  /** Creates the folder and the file, so that problems with them appear at startup. */
  async open(): Promise<void> {
    await makeDirectories(dirname(this.options.path), 0o700);
    await this.#openFile();
    await this.#removeOld();
  }

  write(line: string): void {
    if (this.#bufferedBytes + line.length > MAX_BUFFERED_BYTES) {
      this.#dropped++;
      return;
    }
    this.#bufferedBytes += line.length;
    this.#lines.push(line);
    if (!this.#flushTimer && !this.#writing) this.#scheduleFlush();
  }

  /** Writes buffered lines and closes the file. */
  async close(): Promise<void> {
    do {
      this.#flush();
      await this.#writing;
    } while (this.#lines.length > 0);
    await this.#file?.close();
    this.#file = undefined;
  }

  #scheduleFlush(): void {
    this.#flushTimer = this.options.clock.timer(FLUSH_INTERVAL_MS, () => this.#flush());
  }

  #flush(): void {
    this.#flushTimer?.cancel();
    this.#flushTimer = undefined;
    if (this.#writing || this.#lines.length === 0) return;
    const lines = this.#lines;
    this.#lines = [];
    this.#writing = this.#append(lines).then(() => {
      this.#bufferedBytes = this.#lines.reduce((sum, { length }) => sum + length, 0);
      this.#writing = undefined;
      if (this.#lines.length > 0) this.#scheduleFlush();
    });
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { log } = this.options;
    const bytes = Buffer.from(lines.join(''));
    try {
      if (this.#size > 0 && this.#size + bytes.length > this.options.maxBytes) await this.#rotate();
      const file = this.#file ?? (await this.#openFile());
      await file.appendFile(bytes);
      this.#size += bytes.length;
      if (this.#isFailing) log.info('the audit log can be written again');
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += lines.length;
      if (!this.#isFailing) log.error('the audit log cannot be written', { path: this.options.path, error });
      this.#isFailing = true;
    }
  }

  async #openFile(): Promise<FileHandle> {
    const file = await open(this.options.path, 'a', 0o600);
    try {
      // An existing file may be readable by other users.
      await file.chmod(0o600);
      this.#size = (await file.stat()).size;
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    return file;
  }

  async #rotate(): Promise<void> {
    const { path, clock } = this.options;
    await this.#file?.close();
    this.#file = undefined;
    // Two rotations within a millisecond get different names.
    this.#lastRotation = Math.max(clock.now(), this.#lastRotation + 1);
    const stamp = new Date(this.#lastRotation).toISOString().slice(0, -1).replaceAll(':', '-');
    const { stem, end } = partsOf(path);
    await rename(path, join(dirname(path), `${stem}-${stamp}${end}`));
    await this.#openFile();
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { path, maxBackups, maxAgeMs, clock } = this.options;
    const folder = dirname(path);
    const { stem, end } = partsOf(path);
    const older = (await readdir(folder))
      .flatMap((name) => {
        const time = timeIn(name, stem, end);
        return time === undefined ? [] : [{ name, time }];
      })
      .sort((a, b) => b.time - a.time);
    const oldest = maxAgeMs > 0 ? clock.now() - maxAgeMs : Number.NEGATIVE_INFINITY;
    const removed = older.filter(({ time }, index) => (maxBackups > 0 && index >= maxBackups) || time < oldest);
    await Promise.all(removed.map(({ name }) => unlink(join(folder, name))));
  }
}

function partsOf(path: string): { stem: string; end: string } {
  const end = extname(path);
  return { stem: basename(path, end), end };
}

function timeIn(name: string, stem: string, end: string): number | undefined {
  if (!name.startsWith(`${stem}-`) || !name.endsWith(end)) return undefined;
  const [, day, hours, minutes, seconds] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(name.slice(stem.length + 1, name.length - end.length)) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
}
