/**
 * The streams of a process that runs elsewhere: what exec and attach connect. The server, the connection to an agent, the
 * agent and the runtimes all hand on this form, so that back-pressure reaches from the client's socket to the container.
 */
import type { Readable, Writable } from 'node:stream';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** How a process ended. A process that could not be started, or whose end is unknown, rejects `exit` instead. */
export interface ProcessExit {
  readonly exitCode: number;
}

export interface ProcessStreams {
  /** Absent unless asked for. Ending it closes the process's standard input. */
  readonly stdin: Writable | undefined;
  /** Keeps its bytes until they are read, also when the process has ended before anybody began to read. */
  readonly stdout: Readable | undefined;
  /** Absent with a terminal, whose output is all on `stdout`. */
  readonly stderr: Readable | undefined;
  /** Resolves after the process has ended and its output was read to the end. For attach: when the container has ended, with 0. */
  readonly exit: Promise<ProcessExit>;
  /** Without a terminal it does nothing. */
  resize(size: TerminalSize): void;
  /** Ends the streams; a process that exec started ends with them. May be called at any time, and again. */
  close(): void;
}
