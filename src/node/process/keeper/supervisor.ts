/** The supervisor of a container: a small process that starts it, waits for it and writes its state. It outlives agent and keeper. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../runtime/errors.ts';
import { encodePlan, type Step } from '../launcher/plan.ts';
import { openReader } from './fifo.ts';
import { readJson } from './files.ts';

/** What a supervisor writes into the file `state`, and into the pipe `alive`. Times are milliseconds since the epoch. */
export type SupervisedState =
  | { readonly state: 'failed'; readonly at: number; readonly message: string }
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

export function readState(directory: string): SupervisedState | undefined {
  return readJson<SupervisedState>(join(directory, 'state'));
}

/** How a supervisor is started. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  /** What it finds in the file `plan`. */
  readonly steps: readonly Step[] | undefined;
}

/** Once the pipes exist, `opened` opens them, and the container starts. Its state says later how that went. */
export async function startSupervisor(
  directory: string,
  { program, args, env, steps }: Launch,
  opened: () => void,
): Promise<void> {
  if (steps) writeFileSync(join(directory, 'plan'), encodePlan(steps), { mode: 0o600 });
  const child = spawn(program, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: environmentOf(env),
  });
  const control = child.stdio[3] as Duplex;
  control.on('error', () => undefined);
  await answer(child, control);
  opened();
  control.write('go\n');
}

export function environmentOf(variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    variables.map((variable) => {
      const at = variable.indexOf('=');
      return [variable.slice(0, at), variable.slice(at + 1)];
    }),
  );
}

/** Resolves when the launcher is ready. */
async function answer(child: ChildProcess, control: Duplex): Promise<void> {
  const ended = once(child, 'exit').then(() => 'ended');
  const [said] = await Promise.race([once(control, 'data').then(([data]) => [String(data)]), ended.then(() => [''])]);
  if (said !== 'ready\n') throw new RuntimeError('Unknown', 'the supervisor of the container could not be started');
}

/** Watches a supervisor: `onState` is called when it has a new state, also on a full disk; `onEnd` when it has ended. */
export function watchSupervisor(
  directory: string,
  onState: (state: SupervisedState | undefined) => void,
  onEnd: () => void,
): void {
  const alive = openReader(join(directory, 'alive'));
  let rest = '';
  alive.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    const last = lines.at(-1);
    // Supervisors of earlier releases write an empty line when the file has changed.
    if (last !== undefined) onState(last === '' ? readState(directory) : (JSON.parse(last) as SupervisedState));
  });
  alive.on('close', onEnd);
}
