/** The side of the cluster that was started in the background: its parent waits until it is ready. */

/** The message that the parent waits for. */
export const READY = 'ready';

/** Whether this process runs in the background, started by `qd up --detach`. */
export const isDetached = (): boolean => process.send !== undefined;

/** Tells the parent, if it still waits, that the cluster is ready. A parent that was killed does not end the cluster. */
export function reportReady(): void {
  if (!process.connected) return;
  process.send?.(READY, () => {
    if (process.connected) process.disconnect();
  });
}
