/** The side of the program that was started in the background: its parent waits until it is ready. */

/** The messages that the parent waits for: all is ready, or all but some nodes. */
export const READY = 'ready';
export const NODES_NOT_READY = 'nodes not ready';

/** Reports whether this process runs in the background, started with --detach. */
export const isDetached = (): boolean => process.send !== undefined;

/** Tells the parent, if it still waits, that the program is ready. A parent that was killed does not end it. */
export function reportReady(message: typeof READY | typeof NODES_NOT_READY): void {
  if (!process.connected) return;
  process.send?.(message, () => {
    if (process.connected) process.disconnect();
  });
}
