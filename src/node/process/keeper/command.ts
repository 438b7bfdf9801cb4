/** A further command in a container: its process, and the pipes of its standard streams. */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../runtime/errors.ts';
import { framedPlan, type Step } from '../launcher/plan.ts';
import type { ProcessIdentity } from '../plans/identity.ts';
import { openReader, openWriter } from './fifo.ts';
import { launcherCommand } from './machine.ts';
import { environmentOf } from './supervisor.ts';

export interface CommandOptions {
  readonly perl: string;
  readonly launcher: string;
  /** Of its own, for its pipes; it is removed when the command runs. */
  readonly directory: string;
  readonly steps: readonly Step[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface Command {
  readonly stdin: Socket | undefined;
  readonly stdout: Socket | undefined;
  readonly stderr: Socket | undefined;
  /** Resolves when its process has ended. */
  readonly exitCode: Promise<number>;
  resize(columns: number, rows: number): void;
  /** Kills it, with what it has started. */
  kill(): void;
}

/** Resolves when the command runs; rejects with a RuntimeError of code `CannotRun` when it cannot be started. */
export async function startCommand(options: CommandOptions): Promise<Command> {
  const { perl, launcher, directory, steps } = options;
  const names = (['stdin', 'stdout', 'stderr'] as const).filter((name) => options[name]);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [program, args] = launcherCommand(perl, launcher, 'exec');
  const child = spawn(program, [...args, names.join(',')], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: {},
  });
  const exitCode = new Promise<number>((resolve) => {
    child.on('exit', (code) => resolve(code ?? 137));
  });
  const control = child.stdio[3] as Duplex;
  const pipes: Partial<Record<'stdin' | 'stdout' | 'stderr', Socket>> = {};
  try {
    await new Promise<void>((resolve, reject) => {
      let text = '';
      control.on('error', () => undefined);
      control.on('data', (chunk) => {
        text += String(chunk);
        if (text.startsWith('ready\n')) {
          text = text.slice('ready\n'.length);
          for (const name of names)
            pipes[name] = name === 'stdin' ? openWriter(join(directory, name)) : openReader(join(directory, name));
          control.write('go\n');
        }
        if (!text.endsWith('\n')) return;
        if (text.startsWith('started ')) resolve();
        else reject(new RuntimeError('CannotRun', text.replace(/^failed /, '').trim()));
      });
      // Not its exit: a command that ends at once may be seen to end before the message that it has started is read.
      child.on('close', () => reject(new RuntimeError('Unknown', 'the command could not be started')));
      control.write(framedPlan(steps));
    });
  } catch (error) {
    for (const pipe of Object.values(pipes)) pipe.destroy();
    control.destroy();
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return {
    stdin: pipes.stdin,
    stdout: pipes.stdout,
    stderr: pipes.stderr,
    exitCode,
    resize: (columns, rows) => {
      control.write(`resize ${columns} ${rows}\n`);
    },
    // The launcher kills its child, with its process group, when the descriptor is closed.
    kill: () => {
      control.destroy();
    },
  };
}

/** The same on a machine without Perl, for a container without namespaces. */
export async function startPlainCommand(
  { command, env, workingDirectory }: ProcessIdentity,
  streams: Pick<CommandOptions, 'stdin' | 'stdout' | 'stderr'>,
): Promise<Command> {
  const [program = '', ...args] = command;
  const pipe = (isWanted: boolean) => (isWanted ? 'pipe' : 'ignore');
  const child = spawn(program, args, {
    cwd: workingDirectory,
    detached: true,
    env: environmentOf(env),
    stdio: [pipe(streams.stdin), pipe(streams.stdout), pipe(streams.stderr)],
  });
  const exitCode = new Promise<number>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new RuntimeError('CannotRun', `exec: "${program}": ${error.message}`)));
  });
  return {
    stdin: (child.stdin as Socket | null) ?? undefined,
    stdout: (child.stdout as Socket | null) ?? undefined,
    stderr: (child.stderr as Socket | null) ?? undefined,
    exitCode,
    resize: () => undefined,
    kill: () => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    },
  };
}
