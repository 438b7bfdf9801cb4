/** The standard streams of a container: its output goes to the log and to those who are attached, theirs to its input. */

import { closeSync, openSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import { openReader, openWriter, readingTurns } from './fifo.ts';
import { LogLines, logTime, type OutputName } from './log-lines.ts';

export interface OutputOptions {
  /** With the named pipes. */
  readonly directory: string;
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly clock: Clock;
}

/** How long output that processes outside of the container's control hold open is waited for. */
const DRAIN_TIMEOUT_MS = 1_000;

const NEWLINE = 0x0a;

export class Output {
  readonly #readers = new Map<OutputName, Socket>();
  readonly #attached = new Map<OutputName, Set<Socket>>([
    ['stdout', new Set()],
    ['stderr', new Set()],
  ]);
  /** Undefined until the container runs. */
  #ended: Promise<unknown> | undefined;
  #log: number;
  /** Log entry about output that could not be written. */
  #loss: Buffer | undefined;
  #stdin: Socket | undefined;

  /** Opens the pipes, which exist. */
  constructor(private readonly options: OutputOptions) {
    makeDirectoriesSync(dirname(options.logPath));
    this.#log = openSync(options.logPath, 'a', 0o640);
    if (options.stdin) this.#stdin = openWriter(join(options.directory, 'stdin'));
    for (const name of ['stdout', 'stderr'] as const)
      this.#readers.set(name, openReader(join(options.directory, name)));
  }

  /** Begins to read; what was written before is in the pipes. */
  begin(): void {
    this.#ended ??= Promise.all([...this.#readers].map(([name, reader]) => this.#read(name, reader)));
  }

  #read(name: OutputName, reader: Socket): Promise<void> {
    const lines = new LogLines(name);
    const waiting = new Set<Socket>();
    reader.on('data', (chunk) => {
      this.#write(lines.add(chunk, this.#now()));
      for (const sink of this.#attached.get(name)!) {
        if (sink.write(chunk) || waiting.has(sink)) continue;
        // A client that does not read holds the container up, rather than filling the memory.
        waiting.add(sink);
        const release = () => {
          sink.off('drain', release).off('close', release);
          waiting.delete(sink);
          if (waiting.size === 0) reader.resume();
        };
        sink.on('drain', release).on('close', release);
        reader.pause();
      }
    });
    return new Promise((resolve) => {
      reader.on('close', () => {
        this.#write(lines.end(this.#now()));
        resolve();
      });
    });
  }

  #now(): string {
    return logTime(this.options.clock.now());
  }

  /** On a full disk, output is lost, and not the container. What is written next says so. */
  #write(data: Buffer): void {
    if (data.length === 0) return;
    const whole = this.#loss === undefined ? data : Buffer.concat([this.#loss, data]);
    let written = 0;
    try {
      while (written < whole.length) written += writeSync(this.#log, whole, written);
      this.#loss = undefined;
    } catch (error) {
      const isCut = written > 0 && whole[written - 1] !== NEWLINE;
      const line = `${this.#now()} stderr F output was lost: ${(error as Error).message}\n`;
      this.#loss = Buffer.from(isCut ? `\n${line}` : line);
    }
  }

  reopen(): void {
    const next = openSync(this.options.logPath, 'a', 0o640);
    closeSync(this.#log);
    this.#log = next;
  }

  attach(name: OutputName, sink: Socket): void {
    const sinks = this.#attached.get(name)!;
    sinks.add(sink);
    sink.on('close', () => sinks.delete(sink));
  }

  /** Copies to the input of the container. With `stdinOnce`, its end is the end of the input; otherwise it calls `leave`. */
  attachInput(source: Socket, leave: () => void): void {
    const input = this.#stdin;
    if (!input) {
      source.resume();
      return;
    }
    source.pipe(input, { end: false });
    source.once('end', () => {
      if (this.options.stdinOnce) this.#closeInput();
      else leave();
    });
    source.once('close', () => {
      if (this.options.stdinOnce) this.#closeInput();
    });
  }

  #closeInput(): void {
    const input = this.#stdin;
    this.#stdin = undefined;
    if (!input || input.destroyed) return;
    // A pipe cannot be half-closed: what was written goes first.
    input.write(Buffer.alloc(0), () => input.destroy());
  }

  /** Waits for the end of the output, closes everything, and ends those who are attached. */
  async finish(): Promise<void> {
    const timer = this.options.clock.timer(DRAIN_TIMEOUT_MS, () => void this.#leaveRest());
    this.#stdin?.destroy();
    // The rest is small, so slow readers no longer hold it up.
    for (const reader of this.#readers.values()) {
      if (this.#ended) reader.resume();
      else reader.destroy();
    }
    await this.#ended;
    timer.cancel();
    closeSync(this.#log);
    for (const sinks of this.#attached.values()) for (const sink of sinks) sink.end();
  }

  /** On a busy machine, the timer runs before what the container has written was read. */
  async #leaveRest(): Promise<void> {
    await readingTurns();
    for (const reader of this.#readers.values()) reader.destroy();
  }
}
