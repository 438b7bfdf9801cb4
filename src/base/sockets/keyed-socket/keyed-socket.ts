/** A Unix socket for users who can read the key beside it, which the first line of a connection contains. */
import { timingSafeEqual } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Random } from '../../random.ts';
import { firstLine } from './lines.ts';

/** Names of files in a directory that only its owner may write to. */
export interface KeyedSocketNames {
  readonly directory: string;
  readonly socket: string;
  readonly key: string;
}

const KEY_BYTES = 32;

/** Creates a new key, which invalidates all earlier ones. */
export function makeKey({ directory, key }: KeyedSocketNames, random: Random): string {
  const value = random.bytes(KEY_BYTES).toString('hex');
  const next = join(directory, `${key}.next`);
  rmSync(next, { force: true });
  writeFileSync(next, value, { mode: 0o600, flag: 'wx' });
  renameSync(next, join(directory, key));
  return value;
}

/** Reads the key that another process created. */
export function readKey({ directory, key }: KeyedSocketNames): string {
  return readFileSync(join(directory, key), 'utf8');
}

/** Listens at a path that another process may have used or still uses: there is a listener at every moment. */
export function listenAt(server: Server, { directory, socket }: Omit<KeyedSocketNames, 'key'>): Promise<void> {
  const draft = `${socket}.${process.pid}`;
  return new Promise((resolve, reject) => {
    withSocketPath(directory, draft, (path) => {
      rmSync(path, { force: true });
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        chmodSync(join(directory, draft), 0o600);
        renameSync(join(directory, draft), join(directory, socket));
        resolve();
      });
    });
  });
}

/** Calls the listener once the connection has sent the key; closes the connection otherwise. */
export function onOpening<T extends object>(socket: Socket, key: string, listener: (opening: T) => void): void {
  firstLine(socket, (value) => {
    if (isKey((value as { key?: unknown }).key, key)) listener(value as T);
    else socket.destroy();
  });
}

/** Connects and sends the key. Rejects when the socket belongs to another user, who would see the key. */
export async function connectWithKey(names: KeyedSocketNames, opening: object): Promise<Socket> {
  const key = await readFile(join(names.directory, names.key), 'utf8');
  const { uid } = lstatSync(join(names.directory, names.socket));
  if (uid !== (process.getuid?.() ?? uid)) throw new Error(`${names.socket} belongs to another user`);
  return new Promise((resolve, reject) => {
    const socket = withSocketPath(names.directory, names.socket, (path) => connect({ path, allowHalfOpen: true }));
    socket.once('error', reject);
    socket.once('connect', () => {
      // From here on, an error is followed by `close`, which the user of the socket awaits.
      socket.on('error', () => undefined);
      socket.off('error', reject);
      socket.write(`${JSON.stringify({ ...opening, key })}\n`);
      resolve(socket);
    });
  });
}

function isKey(shown: unknown, key: string): boolean {
  const [own, other] = [Buffer.from(key), Buffer.from(typeof shown === 'string' ? shown : '')];
  return own.length === other.length && timingSafeEqual(own, other);
}

/** The longest path that a socket's address can hold, on Linux 107 bytes. */
const MAX_PATH_BYTES = 100;

/** Calls `use` with an address that is valid during the call. */
function withSocketPath<T>(directory: string, name: string, use: (path: string) => T): T {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  const descriptor = openSync(directory, 'r');
  try {
    return use(`/proc/self/fd/${descriptor}/${name}`);
  } finally {
    closeSync(descriptor);
  }
}
