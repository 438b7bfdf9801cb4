/** Runs a program, and starts it again when it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { Backoff } from '../../base/time/backoff.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';

export interface SupervisorOptions {
  readonly command: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Gets the output of the program. */
  readonly logFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called with how the program has ended by itself after it was ready; returns whether it is started again. */
  mayStartAgain(how: string): boolean;
}

const RESTART_DELAYS = { base: 200, max: 15_000 };
/** A process that has lived this long is no part of a series of failures. */
const SETTLED_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const MAX_LOG_BYTES = 10 * 2 ** 20;
const MAX_TAIL_BYTES = 8_192;

/** A program ended before it was ready. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly';
  constructor(
    readonly how: string,
    words: string,
  ) {
    super(`it ended with ${how}${words}`);
  }
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #backoff: Backoff;
  #child: ChildProcess | undefined;
  #restart: Timer | undefined;
  #isReady = false;
  #isStopping = false;
  #startedAt = 0;
  /** Where the output of the present process begins in the file. */
  #logStart = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(RESTART_DELAYS, options.random);
  }

  /** The process that runs; undefined between the end of one and the start of the next. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the program, and waits for `ready`. Rejects when the program ends before that. */
  async start(ready: () => Promise<void>): Promise<void> {
    const { child, end } = await this.#spawn();
    const ended = end.then(async (how) => {
      throw new EndedEarly(how, await this.#lastWords());
    });
    ended.catch(() => undefined);
    await Promise.race([ready(), ended]);
    this.#isReady = true;
    if (!isRunning(child)) this.#ended(child, 'its end');
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    const child = this.#child;
    if (!child || !isRunning(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = this.#options.clock.timer(STOP_TIMEOUT_MS, () => child.kill('SIGKILL'));
    await ended;
    timer.cancel();
  }

  async #spawn(): Promise<{ readonly child: ChildProcess; readonly end: Promise<string> }> {
    const { command, env, logFile, clock } = this.#options;
    const output = await openLog(logFile);
    try {
      this.#logStart = (await output.stat()).size;
      const [program, ...args] = command;
      // In a group of its own, so that Ctrl-C in a terminal does not end it before what uses it. It outlives a server that is killed.
      const child = spawn(program, args, { stdio: ['ignore', output.fd, output.fd], env, detached: true });
      this.#child = child;
      this.#startedAt = clock.now();
      const end = endOf(child);
      end.then((how) => this.#ended(child, how));
      return { child, end };
    } finally {
      await output.close();
    }
  }

  #ended(child: ChildProcess, how: string): void {
    if (this.#isStopping || !this.#isReady || this.#child !== child) return;
    this.#child = undefined;
    if (!this.#options.mayStartAgain(how)) return;
    const { clock, log, command } = this.#options;
    if (clock.now() - this.#startedAt > SETTLED_MS) this.#backoff.reset();
    const milliseconds = Math.round(this.#backoff.next());
    const again = async () => {
      if (!this.#isStopping) await this.#spawn();
    };
    this.#lastWords()
      .then((words) =>
        log.error('a program has ended and is started again', { program: command[0], how: how + words, milliseconds }),
      )
      .catch(() => undefined);
    this.#restart = clock.timer(milliseconds, () => {
      again().catch((error: unknown) => {
        log.error('a program could not be started again', { program: command[0], error });
        this.#child ??= child;
        this.#ended(this.#child, 'a failed start');
      });
    });
  }

  /** The last error that the program has written, for people. */
  async #lastWords(): Promise<string> {
    const bytes = await readFile(this.#options.logFile).catch(() => Buffer.alloc(0));
    const own = bytes.subarray(Math.max(this.#logStart, bytes.length - MAX_TAIL_BYTES)).toString();
    const words = lastError(own);
    return words === undefined ? '' : `: ${words}`;
  }
}

/** The last error in lines of JSON, or the last line of text. */
export function lastError(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.flatMap((line) => {
    try {
      const { level, msg, error } = JSON.parse(line) as Record<string, unknown>;
      if (!['error', 'fatal', 'panic'].includes(String(level))) return [];
      return [error === undefined ? String(msg) : `${msg}: ${error}`];
    } catch {
      return []; // A line of text.
    }
  });
  return errors.at(-1) ?? lines.at(-1);
}

function isRunning({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Resolves with how the process ended: its code, its signal, or why it was not started. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
}

async function openLog(file: string): Promise<FileHandle> {
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
  return open(file, 'a', 0o600);
}
