/** The supervisor of a container: a small process that starts it, waits for it and writes its state. It outlives agent and keeper. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../../runtime/errors.ts';
import { readJson } from '../files.ts';
import { failureIn } from '../oci/oci-runtime.ts';
import { openReader } from '../streams/fifo.ts';
import { onPidFile, PID_FILE, readPid } from './pid-file.ts';

/** Messages that a supervisor writes to the file `state` and the pipe `alive`. Times are milliseconds since the epoch. */
export type SupervisedState =
  /** Without a message, the log of the OCI runtime says why. */
  | { readonly state: 'failed'; readonly at: number; readonly message?: string }
  | { readonly state: 'running'; readonly at: number; readonly pid: number; readonly group?: number }
  | {
      readonly state: 'exited';
      readonly at: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly signal: number;
      readonly pid: number;
      /** The process group of its processes; that of its first one unless it says another. */
      readonly group?: number;
    };

/** A container of an OCI runtime runs once its id is in a file. */
export function readState(directory: string): SupervisedState | undefined {
  const state = readJson<SupervisedState>(join(directory, 'state'));
  if (state) return withStart(directory, state);
  const pid = readPid(directory);
  return pid === undefined ? undefined : { state: 'running', at: startOf(directory), pid };
}

/** Why a container could not be started. */
export function startFailure(directory: string, state: SupervisedState | undefined): string {
  const message = state?.state === 'failed' ? state.message : undefined;
  return message ?? failureIn(join(directory, 'runtime.log')) ?? 'the container could not be started';
}

/** How a supervisor is started. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** Arguments that follow the names of the streams. */
  readonly trailing: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  /** Named pipes that it has besides those of the standard streams. */
  readonly streams: readonly string[];
}

/** Once the supervisor has opened the pipes, `opened` does so, and the container starts. Its state says later how that went. */
export async function startSupervisor(
  directory: string,
  { program, args, trailing, env, streams }: Launch,
  standard: readonly string[],
  opened: () => Promise<void>,
): Promise<void> {
  const child = spawn(program, [...args, [...standard, ...streams].join(','), ...trailing], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: environmentOf(env),
  });
  const control = child.stdio[3] as Duplex;
  control.on('error', () => undefined);
  try {
    await answer(child, control);
    await opened();
  } catch (error) {
    // It ends, and what it has begun with it.
    control.destroy();
    throw error;
  }
  control.write('go\n');
}

function environmentOf(variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    variables.map((variable) => {
      const at = variable.indexOf('=');
      return [variable.slice(0, at), variable.slice(at + 1)];
    }),
  );
}

/** Resolves when the supervisor is ready. */
async function answer(child: ChildProcess, control: Duplex): Promise<void> {
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => 'ended');
  const [said] = await Promise.race([once(control, 'data').then(([data]) => [String(data)]), ended.then(() => [''])]);
  if (said !== 'ready\n') throw new RuntimeError('Unknown', 'the supervisor of the container could not be started');
}

/** Watches a supervisor: `onState` is called when it has a new state, also on a full disk; `onEnd` when it has ended. */
export function watchSupervisor(
  directory: string,
  onState: (state: SupervisedState | undefined) => void,
  onEnd: () => void,
): void {
  const stop = onPidFile(directory, (pid) => onState({ state: 'running', at: startOf(directory), pid }));
  const alive = openReader(join(directory, 'alive'));
  let rest = '';
  alive.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    const last = lines.at(-1);
    if (last === undefined) return;
    stop();
    onState(withStart(directory, JSON.parse(last) as SupervisedState));
  });
  alive.on('close', () => {
    stop();
    onEnd();
  });
}

/** The supervisor of an OCI runtime leaves it to the runtime to say when a container was started. */
function withStart(directory: string, state: SupervisedState): SupervisedState {
  return state.at === undefined ? { ...state, at: startOf(directory) } : state;
}

/** When the OCI runtime wrote that it runs. */
function startOf(directory: string): number {
  return Math.floor(statSync(join(directory, PID_FILE), { throwIfNoEntry: false })?.mtimeMs ?? 0);
}
