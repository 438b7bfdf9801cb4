/** Finds the daemon of a directory, or starts one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../base/files/own/make-directories.ts';
import { Caller } from '../../base/sockets/keyed-socket/calls.ts';
import { connectWithKey, type KeyedSocketNames } from '../../base/sockets/keyed-socket/keyed-socket.ts';
import type { Tools } from '../../base/tools.ts';
import {
  type DaemonCalls,
  type DaemonEvent,
  type DaemonFacts,
  daemonSocket,
  HANDOVER_VERSION,
  LOG_FILE,
} from './calls.ts';
import { endDaemons } from './running.ts';

export interface ConnectOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly directory: string;
  /** The command that starts a daemon. */
  readonly command: readonly string[];
  /** Release that a daemon reports when it was started with this command. */
  readonly release: string;
}

/** Timeout for an answer: a daemon that is only slow, on a busy machine, must not be taken for one that hangs. */
const ANSWER_TIMEOUT_MS = 20_000;

/** Resolves with a daemon of this release: the one that runs, its heir, or a new one. */
export async function connectDaemon(options: ConnectOptions, onClose: () => void): Promise<Caller<DaemonCalls>> {
  const { directory, command, release, clock, log } = options;
  makeDirectoriesSync(directory, 0o700);
  const found = await greet(daemonSocket(directory), options, onClose);
  if (found?.facts.release === release) return found.caller;
  if (found?.facts.handover === HANDOVER_VERSION) {
    try {
      const socket = await found.caller.call('replace', { command });
      const heir = await greet(daemonSocket(directory, socket), options, onClose);
      if (heir) return heir.caller;
    } catch (error) {
      log.warn('the network daemon of another release gives nothing to a new one; it is ended first', { error });
    } finally {
      found.caller.close();
    }
  }
  // A daemon that does not answer keeps the ports all the same.
  const ended = await endDaemons(directory, clock);
  if (ended > 0) log.warn('a network daemon that could not be used was ended', { count: ended });
  await start(options);
  const started = await greet(daemonSocket(directory), options, onClose);
  if (!started) throw new Error(`the network daemon does not answer; see ${join(directory, LOG_FILE)}`);
  return started.caller;
}

interface Greeted {
  readonly caller: Caller<DaemonCalls>;
  readonly facts: DaemonFacts;
}

/**
 * Connects to a daemon; undefined when none answers. `onClose` is not called for one that never answered, or that is
 * left.
 */
async function greet(
  names: KeyedSocketNames,
  { clock, log }: ConnectOptions,
  onClose: () => void,
): Promise<Greeted | undefined> {
  let isUsed = false;
  const onEvent = (event: unknown) => {
    const { level, message, fields } = event as DaemonEvent;
    log[level === 'error' ? 'error' : 'warn'](message, fields);
  };
  try {
    const caller = new Caller<DaemonCalls>(await connectWithKey(names, {}), onEvent, () => isUsed && onClose());
    // Runs after the data that has arrived meanwhile.
    const timer = clock.timer(ANSWER_TIMEOUT_MS, () => setImmediate(() => setImmediate(() => caller.close())));
    try {
      const facts = await caller.call('facts', {});
      isUsed = true;
      return { caller, facts };
    } finally {
      timer.cancel();
    }
  } catch {
    return undefined;
  }
}

/** Starts a daemon; resolves when it listens. It runs in its own session, so that it outlives this process. */
async function start({ directory, command }: ConnectOptions): Promise<void> {
  const file = join(directory, LOG_FILE);
  const log = openSync(file, 'a', 0o600);
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the network daemon ended with code ${code}; see ${file}`);
  });
  failed.catch(() => undefined);
  const stdout = child.stdout!;
  await Promise.race([once(stdout, 'data'), failed]);
  stdout.destroy();
  child.unref();
}
