import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../base/programs/process-streams.ts';
import type { CommandStatus } from './command-status.ts';

/** The streams of a process that a client asked for. */
export interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The client of a process, over any protocol. */
export interface CommandChannels {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  onResize(listener: (size: TerminalSize) => void): void;
  /** Sends how the command ended; the connection ends after it. */
  finish(status: CommandStatus): void;
  destroy(): void;
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<unknown>;
}

/**
 * Reads the messages of a resize channel: JSON objects, one after the other. As in Kubernetes, nothing is read after one that is
 * malformed: a client could send very many of them, and each costs as much as an exception.
 */
export class ResizeReader {
  readonly #listeners: ((size: TerminalSize) => void)[] = [];
  #text = '';
  #isMalformed = false;

  onResize(listener: (size: TerminalSize) => void): void {
    this.#listeners.push(listener);
  }

  push(bytes: Buffer): void {
    if (this.#isMalformed) return;
    this.#text += bytes.toString('utf8');
    while (!this.#isMalformed) {
      const end = this.#text.indexOf('}');
      if (end < 0) break;
      this.#resize(this.#text.slice(0, end + 1));
      this.#text = this.#text.slice(end + 1);
    }
    // A size is short; longer input is discarded.
    if (this.#text.length > MAX_SIZE_LENGTH) this.#text = '';
  }

  #resize(json: string): void {
    let size: { Width?: unknown; Height?: unknown };
    try {
      size = JSON.parse(json);
    } catch {
      this.#isMalformed = true;
      return;
    }
    const { Width: columns, Height: rows } = size;
    if (!isSize(columns) || !isSize(rows)) return;
    for (const listener of this.#listeners) listener({ columns, rows });
  }
}

const MAX_SIZE_LENGTH = 1024;
/** Other values are not converted: a list of lists of lists takes more stack than there is. */
const isSize = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff;
