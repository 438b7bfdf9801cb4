import { type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Backend } from './audit.ts';

export interface LogFileOptions {
  readonly path: string;
  /** Bytes of one file. */
  readonly maxSize: number;
  /** Older files that are kept; 0: all. */
  readonly maxBackups: number;
  /** Milliseconds that older files are kept; 0: for good. */
  readonly maxAge: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Bytes that wait for the disk at most: beyond that, lines are dropped and counted. */
const WAITING = 16 * 1024 * 1024;

/** Milliseconds that lines are gathered: a write of its own for every few costs as much as making them. */
const GATHER = 20;

/**
 * A file of lines that turns over when it is full: `audit.log`, and `audit-2030-01-01T00-00-00.000.log` for what was in it
 * before. Lines are gathered for a moment and then are one write, nobody waits for it, and only the owner may read the files.
 */
export class LogFile implements Backend {
  readonly #options: LogFileOptions;
  #lines: string[] = [];
  #waiting = 0;
  #file: FileHandle | undefined;
  #size = 0;
  #writing: Promise<void> | undefined;
  #gathering: Timer | undefined;
  #isBroken = false;
  #lastTurn = 0;
  #lost = 0;

  constructor(options: LogFileOptions) {
    this.#options = options;
  }

  get lost() {
    return { log: this.#lost };
  }

  /** Makes the folder and the file, so that what is wrong with them is found at the start. */
  async open(): Promise<void> {
    await mkdir(dirname(this.#options.path), { recursive: true, mode: 0o700 });
    await this.#openFile();
    await this.#removeOld();
  }

  write(line: string): void {
    if (this.#waiting + line.length > WAITING) {
      this.#lost++;
      return;
    }
    this.#waiting += line.length;
    this.#lines.push(line);
    if (!this.#gathering && !this.#writing) this.#gather();
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    do {
      this.#flush();
      await this.#writing;
    } while (this.#lines.length > 0);
    await this.#file?.close();
    this.#file = undefined;
  }

  #gather(): void {
    this.#gathering = this.#options.clock.timer(GATHER, () => this.#flush());
  }

  #flush(): void {
    this.#gathering?.cancel();
    this.#gathering = undefined;
    if (this.#writing || this.#lines.length === 0) return;
    const lines = this.#lines;
    this.#lines = [];
    this.#writing = this.#append(lines).then(() => {
      this.#waiting = this.#lines.reduce((sum, { length }) => sum + length, 0);
      this.#writing = undefined;
      if (this.#lines.length > 0) this.#gather();
    });
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { log } = this.#options;
    const bytes = Buffer.from(lines.join(''));
    try {
      if (this.#size > 0 && this.#size + bytes.length > this.#options.maxSize) await this.#turnOver();
      const file = this.#file ?? (await this.#openFile());
      await file.appendFile(bytes);
      this.#size += bytes.length;
      if (this.#isBroken) log.info('the audit log is written again');
      this.#isBroken = false;
    } catch (error) {
      this.#lost += lines.length;
      if (!this.#isBroken) log.error('the audit log cannot be written', { path: this.#options.path, error });
      this.#isBroken = true;
    }
  }

  async #openFile(): Promise<FileHandle> {
    const file = await open(this.#options.path, 'a', 0o600);
    try {
      // One that somebody made before may be open to others.
      await file.chmod(0o600);
      this.#size = (await file.stat()).size;
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    return file;
  }

  async #turnOver(): Promise<void> {
    const { path, clock } = this.#options;
    await this.#file?.close();
    this.#file = undefined;
    // Two within a millisecond are two files.
    this.#lastTurn = Math.max(clock.now(), this.#lastTurn + 1);
    const stamp = new Date(this.#lastTurn).toISOString().slice(0, -1).replaceAll(':', '-');
    const { stem, end } = partsOf(path);
    await rename(path, join(dirname(path), `${stem}-${stamp}${end}`));
    await this.#openFile();
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { path, maxBackups, maxAge, clock } = this.#options;
    const folder = dirname(path);
    const { stem, end } = partsOf(path);
    const older = (await readdir(folder))
      .flatMap((name) => {
        const time = timeIn(name, stem, end);
        return time === undefined ? [] : [{ name, time }];
      })
      .sort((a, b) => b.time - a.time);
    const oldest = maxAge > 0 ? clock.now() - maxAge : Number.NEGATIVE_INFINITY;
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
