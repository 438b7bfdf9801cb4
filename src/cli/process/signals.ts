import type { OnRotated } from '../../assembly/context.ts';
import type { Clock } from '../../base/time/clock.ts';

/** Tells a running cluster that keys or certificates in its data directory were replaced. */
export const ROTATED_SIGNAL = 'SIGUSR2';

/** Listens for that signal. */
export const onRotated: OnRotated = (listener) => {
  process.on(ROTATED_SIGNAL, listener);
  return () => process.off(ROTATED_SIGNAL, listener);
};

/** Asks a running cluster to stop gracefully; harmless when it is repeated. */
export const STOP_SIGNAL = 'SIGTERM';

/** The terminal and npm both send a Ctrl-C to the program: a repetition within this time is the same key press. */
const SAME_KEY_PRESS_MS = 500;

interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
}

/**
 * Resolves with the first signal to stop. A later SIGINT, which is a second Ctrl-C, calls `abort`. A repeated SIGTERM does
 * not: several programs may ask for the same graceful stop.
 */
export function untilStopSignal(
  clock: Pick<Clock, 'now'>,
  abort: () => void = () => process.exit(1),
  signals: SignalSource = process,
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const begin = (signal: NodeJS.Signals) => {
      since ??= clock.now();
      resolve(signal);
    };
    signals.on(STOP_SIGNAL, () => begin(STOP_SIGNAL));
    signals.on('SIGINT', () => {
      if (since !== undefined && clock.now() - since >= SAME_KEY_PRESS_MS) abort();
      else begin('SIGINT');
    });
  });
}
