import type { Clock } from '../../../../base/time/clock.ts';

interface Closable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Closes a finished response that its client has not read in time. */
export function closeInTime(
  response: Closable,
  { clock, delayMs }: { readonly clock: Clock; readonly delayMs: number },
): void {
  const timer = clock.timer(delayMs, () => response.destroy());
  response.once('close', () => timer.cancel());
}
