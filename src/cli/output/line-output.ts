/**
 * Writes the lines of a log to a file descriptor. A line is written at once, so that a crash loses none, as long as the reader
 * keeps up. Where it does not (a pipe is full), lines wait and the program goes on: a log that nobody reads must not stop requests.
 */
import { writeSync } from 'node:fs';

/** Maximum size of the lines that wait. More are dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 20;
/** How long the end of the program waits for the reader. */
const MAX_EXIT_MS = 1_000;

export interface LineOutputOptions {
  /** Makes the line that says how many were dropped. */
  readonly droppedLine: (count: number) => string;
}

export class LineOutput {
  #waiting: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly fd: number,
    private readonly options: LineOutputOptions,
  ) {}

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waiting.length > 0 && this.#bytes + bytes.length > MAX_WAITING_BYTES) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    // Others wait already: they go first.
    if (!this.#retry) this.#send();
  }

  /** Why lines are lost now. */
  get problem(): string | undefined {
    return this.#dropped > 0 ? `${this.#dropped} lines were dropped: nobody reads the log` : undefined;
  }

  /** Waits for the reader, if not forever. To be called when the program ends. */
  finish(): void {
    const lastTry = performance.now() + MAX_EXIT_MS;
    const never = new Int32Array(new SharedArrayBuffer(4));
    this.#send();
    while (this.#waiting.length > 0 && performance.now() < lastTry) {
      Atomics.wait(never, 0, 0, RETRY_MS);
      this.#send();
    }
  }

  #send(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0]!;
      const written = this.#writeNow(first);
      this.#bytes -= written;
      if (written < first.length) {
        this.#waiting[0] = first.subarray(written);
        this.#retry = setTimeout(() => this.#send(), RETRY_MS).unref();
        return;
      }
      this.#waiting.shift();
      if (this.#waiting.length === 0 && this.#dropped > 0) this.#reportDropped();
    }
  }

  #reportDropped(): void {
    const line = Buffer.from(this.options.droppedLine(this.#dropped));
    this.#dropped = 0;
    this.#waiting.push(line);
    this.#bytes += line.length;
  }

  /** Returns how many bytes are dealt with. A reader that has gone, or a full disk, is no reason to stop. */
  #writeNow(bytes: Buffer): number {
    try {
      return writeSync(this.fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : bytes.length;
    }
  }
}
