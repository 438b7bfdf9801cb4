/** Finds or starts the keeper of a directory. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../base/files/own/make-directories.ts';
import { closeSync, openSync } from '../../../base/files/own/own-files.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { type KeeperFacts, PROTOCOL_VERSION } from '../wire/calls.ts';
import { KeeperConnection } from '../wire/connection.ts';

export interface KeeperSettings {
  /** Everything that the runtime keeps is in it. One runtime at a time uses a directory. */
  readonly directory: string;
  /** Distinguishes the bridge, the nftables table and the cgroups of this runtime from those of others; at most 11 characters. */
  readonly name: string;
  /** The node's range of pod addresses, for example `10.244.0.0/24`. */
  readonly podCidr: string;
  /** The command that starts a keeper; name, range and directory are appended. */
  readonly keeper: readonly string[];
}

export interface ConnectedKeeper {
  readonly connection: KeeperConnection;
  readonly facts: KeeperFacts;
}

/** A keeper of another release or with other settings is replaced; what it keeps goes on. */
export async function connectKeeper(
  settings: KeeperSettings,
  onChange: (sandboxId: string | undefined) => void,
  onClose: () => void,
): Promise<ConnectedKeeper> {
  const { directory, name, podCidr } = settings;
  makeDirectoriesSync(directory, 0o711);
  const existing = await greet(directory, onChange, onClose);
  if (existing) {
    const { facts, connection, use } = existing;
    if (facts.protocol === PROTOCOL_VERSION && facts.name === name && facts.podCidr === podCidr) return use();
    await connection.call('quit', {}).catch(() => undefined);
    connection.close();
  }
  await startKeeperProcess(settings);
  const started = await greet(directory, onChange, onClose);
  if (!started) throw new RuntimeError('Unavailable', 'the keeper of containers does not answer');
  return started.use();
}

/** Undefined if no keeper answers. `onClose` is called for one that is used: the end of one that is replaced is meant. */
async function greet(
  directory: string,
  onChange: (sandboxId: string | undefined) => void,
  onClose: () => void,
): Promise<(ConnectedKeeper & { readonly use: () => ConnectedKeeper }) | undefined> {
  let isUsed = false;
  try {
    const connection = await KeeperConnection.open(directory, onChange, () => isUsed && onClose());
    const facts = await connection.call('facts', {});
    const use = () => {
      isUsed = true;
      return { connection, facts };
    };
    return { connection, facts, use };
  } catch {
    return undefined;
  }
}

/** Resolves when it listens. It is in a session of its own, so that it outlives this process. */
async function startKeeperProcess({ directory, name, podCidr, keeper }: KeeperSettings): Promise<void> {
  const log = openSync(join(directory, 'keeper.log'), 'a', 0o600);
  const [program = '', ...args] = keeper;
  const child = spawn(program, [...args, name, podCidr, directory], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', log],
    env: {},
  });
  closeSync(log);
  const failed = once(child, 'exit').then(([code]) => {
    throw new RuntimeError(
      'Unavailable',
      `the keeper of containers ended with code ${code}; see ${join(directory, 'keeper.log')}`,
    );
  });
  failed.catch(() => undefined);
  const stdout = child.stdout!;
  await Promise.race([once(stdout, 'data'), failed]);
  stdout.destroy();
  child.unref();
}
