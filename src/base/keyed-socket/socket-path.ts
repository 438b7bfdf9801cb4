/** Socket addresses in directories whose paths may exceed the limit for socket paths. */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The longest path that a socket's address can hold, on Linux 107 bytes. */
const MAX_PATH_BYTES = 100;

/** Calls `use` with an address that is valid during the call. */
export function withSocketPath<T>(directory: string, name: string, use: (path: string) => T): T {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  const descriptor = openSync(directory, 'r');
  try {
    return use(`/proc/self/fd/${descriptor}/${name}`);
  } finally {
    closeSync(descriptor);
  }
}
