/** Named pipes as streams. */

import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Ends when nobody has the pipe open for writing any more. */
export function openReader(path: string): Socket {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  // Linux tells the end only of a pipe that was open for writing since the reader has opened it.
  closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  const reader = new Socket({ fd: descriptor, readable: true, writable: false });
  reader.on('error', () => undefined);
  return reader;
}

/** Does not wait for a reader. The other side sees the end when this is destroyed and nobody else has it open. */
export function openWriter(path: string): Socket {
  const writer = new Socket({ fd: openBothEnds(path), readable: false, writable: true });
  writer.on('error', () => undefined);
  return writer;
}

/** Returns a descriptor that waits for nobody. */
export function openBothEnds(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
}

/** Resolves when output that was written before is read, which takes some turns of the event loop. */
export async function readingTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}
