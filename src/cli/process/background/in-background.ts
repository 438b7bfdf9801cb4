/** `--detach`: starts the same command in a process of its own, and waits until it is ready or has failed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError } from '../../output/cli-error.ts';
import allocator from '../allocator.json' with { type: 'json' };
import { STOP_SIGNAL } from '../signals.ts';
import { type LogFile, openLogFile } from './log-file.ts';
import { NODES_NOT_READY, READY } from './ready.ts';

/** How many lines of the log explain a start that ended without an error of its own. */
const LOG_LINES_SHOWN = 10;

/** The log goes into the data directory, which the caller has found to be free. */
export async function runInBackground(directory: string): Promise<void> {
  const log = await openLogFile(directory);
  try {
    const child = startInBackground(log);
    const outcome = await untilReady(child);
    if (typeof outcome === 'string') return showReady({ child, log, outcome, text: await log.readNew() });
    process.exitCode = outcome;
    await showFailure(log, await log.readNew());
  } finally {
    await log.close();
  }
}

/** A session of its own: the terminal's signals, and its end, do not reach the program. */
function startInBackground({ handle }: LogFile): ChildProcess {
  const args = process.argv.slice(2).filter((arg) => arg !== '--detach');
  return spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    detached: true,
    stdio: ['ignore', handle.fd, handle.fd, 'ipc'],
    env: { ...allocator, ...process.env },
  });
}

/** Resolves with the message that it is ready, or with the exit code of a start that failed. */
async function untilReady(child: ChildProcess): Promise<string | number> {
  const stop = () => child.kill(STOP_SIGNAL);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const ended = once(child, 'exit').then(([code]): number => (code === null || code === 0 ? 1 : code));
  const ready = new Promise<string>((resolve) => {
    child.on('message', (message) => {
      if (message === READY || message === NODES_NOT_READY) resolve(message);
    });
  });
  const outcome = await Promise.race([ready, ended]);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  if (child.connected) child.disconnect();
  child.unref();
  return outcome;
}

interface ReadyOptions {
  readonly child: ChildProcess;
  readonly log: LogFile;
  readonly outcome: string;
  /** Text that the log got since the command began. */
  readonly text: string;
}

/** A program whose nodes are not ready goes on, and the command fails, as others do that wait in vain. */
function showReady({ child: { pid }, log: { path }, outcome, text }: ReadyOptions): void {
  const { shown, errors } = splitOutput(text);
  process.stdout.write(`${shown.join('\n').trimEnd()}\n\n`);
  process.stdout.write(`Process ${pid} runs in the background, with its log in ${path}\n`);
  // Another start, which failed because this one has the directory, has written to the log, too.
  if (outcome !== NODES_NOT_READY) return;
  for (const line of errors) process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}

/** Shows the error that the start has printed, or else the end of its log. */
async function showFailure(log: LogFile, text: string): Promise<void> {
  const { shown, errors, all } = splitOutput(text);
  for (const line of shown) process.stdout.write(`${line}\n`);
  await log.undo();
  if (errors.length > 0) for (const line of errors) process.stderr.write(`${line}\n`);
  else throw new CliError(`the start failed; the end of ${log.path}: ${all.slice(-LOG_LINES_SHOWN).join(' ')}`);
}

/** Output of a start in the foreground: progress to standard output, errors and log lines to standard error. */
interface Output {
  /** The lines for people. */
  readonly shown: readonly string[];
  /** The lines that say why the program ended. */
  readonly errors: readonly string[];
  readonly all: readonly string[];
}

/** Tells apart what a process has written to one file. Log lines are JSON objects. */
function splitOutput(text: string): Output {
  const all = text.replace(/\n+$/, '').split('\n');
  const isError = (line: string) => line.startsWith('qd: ');
  return { all, errors: all.filter(isError), shown: all.filter((line) => !isError(line) && !line.startsWith('{')) };
}
