/** A further command in a container: its process, and the pipes of its standard streams. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Command, CommandRequest } from './executor.ts';
import type { Programs } from './machine.ts';
import { failureIn, type OciRuntime } from './oci/oci-runtime.ts';
import { resizeTerminal, terminalArguments, terminalEnvironment } from './streams/terminal.ts';
import { onPidFile } from './supervisor/pid-file.ts';

export interface OciCommandOptions extends CommandRequest {
  readonly programs: Programs;
  readonly runtime: OciRuntime;
  /** Id of the container. */
  readonly id: string;
}

const LOG_FILE = 'runtime.log';
const EXEC =
  'exec "$OCI" --root "$OCI_STATE" --log runtime.log --log-format json exec --process process.json --pid-file pid "$OCI_ID"';

/**
 * Has an OCI runtime run `process.json` in the directory of the request. Resolves when the command runs; rejects with a RuntimeError of
 * code `CannotRun` when it cannot be started.
 */
export async function startCommand(options: OciCommandOptions): Promise<Command> {
  const { programs, runtime, directory, tty, id } = options;
  const [program, args] = tty
    ? [programs.script!, terminalArguments(EXEC, 'never')]
    : [runtime.program, [...runtime.options(LOG_FILE), 'exec', '--process', 'process.json', '--pid-file', 'pid', id]];
  const env = {
    PATH: '/usr/bin:/bin',
    SHELL: '/bin/sh',
    OCI: runtime.program,
    OCI_STATE: runtime.state,
    OCI_ID: id,
    ...terminalEnvironment(directory, options.size),
  };
  const child = spawn(program, args, { cwd: directory, env, stdio: stdioOf(options) });
  const streams = streamsOf(child);
  const exitCode = exitCodeOf(child);
  try {
    const pid = await startedIn(directory, child);
    void exitCode.then(() => rmSync(directory, { recursive: true, force: true }));
    return {
      ...streams,
      exitCode,
      resize: (columns, rows) => resizeTerminal(programs, directory, { columns, rows }),
      kill: () => killGroup(pid),
    };
  } catch (error) {
    const message = failureIn(join(directory, LOG_FILE));
    rmSync(directory, { recursive: true, force: true });
    if (message === undefined) throw error;
    throw new RuntimeError('CannotRun', message);
  }
}

/** Starts a command that is nobody's container: a process of the keeper's machine, in a group of its own. */
export async function startPlainCommand(
  [program = '', ...args]: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  wanted: Pick<CommandRequest, 'stdin' | 'stdout' | 'stderr'>,
): Promise<Omit<Command, 'resize'>> {
  const child = spawn(program, args, { ...options, detached: true, stdio: stdioOf(wanted) });
  const streams = streamsOf(child);
  const exitCode = exitCodeOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new RuntimeError('CannotRun', `exec: "${program}": ${error.message}`)));
  });
  return { ...streams, exitCode, kill: () => killGroup(child.pid!) };
}

/** Resolves with the id of the command once it runs; rejects when the program ends before. */
async function startedIn(directory: string, child: ChildProcess): Promise<number> {
  let stop: () => void = () => undefined;
  const started = new Promise<number>((resolve) => {
    stop = onPidFile(directory, resolve);
  });
  const ended = once(child, 'exit').then(() => undefined);
  const pid = (await Promise.race([started, ended])) ?? readStarted(directory);
  stop();
  if (pid === undefined) throw new RuntimeError('Unknown', 'the command could not be started');
  return pid;
}

function readStarted(directory: string): number | undefined {
  let found: number | undefined;
  onPidFile(directory, (pid) => {
    found = pid;
  })();
  return found;
}

function stdioOf({ stdin, stdout, stderr }: Pick<CommandRequest, 'stdin' | 'stdout' | 'stderr'>) {
  const pipe = (isWanted: boolean) => (isWanted ? 'pipe' : 'ignore');
  return [pipe(stdin), pipe(stdout), pipe(stderr)] as ('pipe' | 'ignore')[];
}

/** To be called before anything is awaited: output is kept from the start. */
function streamsOf({ stdin, stdout, stderr }: ChildProcess): Pick<Command, 'stdin' | 'stdout' | 'stderr'> {
  stdin?.on('error', () => undefined);
  return { stdin: stdin ?? undefined, stdout: keptOf(stdout), stderr: keptOf(stderr) };
}

/** The output of a command until it is read. Node itself discards output that nobody reads when the process ends. */
function keptOf(output: Readable | null): Readable | undefined {
  if (!output) return undefined;
  const kept = new PassThrough();
  for (const stream of [output, kept]) stream.on('error', () => undefined);
  kept.once('close', () => output.destroy());
  output.once('close', () => kept.end());
  return output.pipe(kept);
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  child.on('error', () => undefined);
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
