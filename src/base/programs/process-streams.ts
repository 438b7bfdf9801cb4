/**
 * The streams of a remote process, which exec and attach connect. The server, the connection to an agent, the agent and
 * the runtimes all pass on this form, so that back-pressure reaches from the client's socket to the container.
 */
import type { Readable, Writable } from 'node:stream';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The exit status of a process. If it could not be started, or its status is unknown, `exit` rejects instead. */
export interface ProcessExit {
  readonly exitCode: number;
}

export interface ProcessStreams {
  /** Standard input; undefined unless requested. Ending it closes the standard input of the process. */
  readonly stdin: Writable | undefined;
  /** Buffers its bytes until they are read, even if the process ends before that. */
  readonly stdout: Readable | undefined;
  /** Standard error; undefined with a terminal, whose output is all on `stdout`. */
  readonly stderr: Readable | undefined;
  /** Resolves after the process has ended and its output was read to the end; for attach, with 0. */
  readonly exit: Promise<ProcessExit>;
  resize(size: TerminalSize): void;
  /** Closes the streams and ends a process that exec started. May be called at any time, repeatedly. */
  close(): void;
}
