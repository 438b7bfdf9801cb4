/** The supervisor of a container: a small process that starts it, waits for it and writes its state, whoever else ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../runtime/errors.ts';
import { encodePlan, type Step } from '../launcher/plan.ts';
import { openReader } from './fifo.ts';
import { readJson } from './files.ts';
import { launcherCommand } from './machine.ts';

/** What a supervisor writes into the file `state`. Times are milliseconds since the epoch. */
export type SupervisedState =
  | { readonly state: 'failed'; readonly at: number; readonly message: string }
  | { readonly state: 'running'; readonly at: number; readonly pid: number }
  | {
      readonly state: 'exited';
      readonly at: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly signal: number;
      readonly pid: number;
    };

export function readState(directory: string): SupervisedState | undefined {
  return readJson<SupervisedState>(join(directory, 'state'));
}

export interface SupervisorOptions {
  readonly directory: string;
  readonly perl: string;
  readonly launcher: string;
  readonly steps: readonly Step[];
  readonly streams: readonly string[];
}

/**
 * Starts a supervisor. Once its pipes exist, `opened` opens them, and the container starts. Returns what resolves when the
 * state says that it runs or could not be started.
 */
export async function startSupervisor(
  { directory, perl, launcher, steps, streams }: SupervisorOptions,
  opened: () => void,
): Promise<void> {
  writeFileSync(join(directory, 'plan'), encodePlan(steps), { mode: 0o600 });
  const [command, args] = launcherCommand(perl, launcher, 'run');
  const child = spawn(command, [...args, streams.join(',')], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: {},
  });
  const control = child.stdio[3] as Duplex;
  control.on('error', () => undefined);
  await answer(child, control);
  opened();
  control.write('go\n');
}

/** Resolves when the launcher is ready. */
async function answer(child: ChildProcess, control: Duplex): Promise<void> {
  const ended = once(child, 'exit').then(() => 'ended');
  const [said] = await Promise.race([once(control, 'data').then(([data]) => [String(data)]), ended.then(() => [''])]);
  if (said !== 'ready\n') throw new RuntimeError('Unknown', 'the supervisor of the container could not be started');
}

/** Watches a supervisor: `onState` is called when it has written a state, `onEnd` when it has ended. */
export function watchSupervisor(directory: string, onState: () => void, onEnd: () => void): void {
  const alive = openReader(join(directory, 'alive'));
  alive.on('data', () => onState());
  alive.on('close', onEnd);
}
