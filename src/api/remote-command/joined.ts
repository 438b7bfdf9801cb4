import { type Duplex, finished } from 'node:stream';
import { makeMovable } from '../../base/bytes/shared-buffer.ts';

/**
 * Connects two streams in both directions until both have ended, with back-pressure. When one is lost, the other is
 * destroyed. Rejects with the error of `far`, whose bytes must have no other user.
 */
export function joined(near: Duplex, far: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    let open = 2;
    const over = () => {
      if (--open === 0) resolve();
    };
    near.on('error', () => far.destroy());
    near.pipe(far);
    far.on('data', giveAway);
    far.pipe(near);
    finished(near, (error) => {
      if (error) far.destroy();
      over();
    });
    finished(far, (error) => {
      if (error && !near.destroyed) {
        reject(error);
        return;
      }
      if (error) near.destroy();
      over();
    });
  });
}

/** Lets the bytes be moved, not copied: a client is usually connected to another thread. */
function giveAway(bytes: Buffer): void {
  makeMovable(bytes);
}
