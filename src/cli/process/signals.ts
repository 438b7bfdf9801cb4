const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Tells a running cluster that keys or certificates in its data directory were replaced. */
export const ROTATED_SIGNAL = 'SIGUSR2';

/** Resolves with the first signal to stop; a second one ends the process at once. */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of STOP_SIGNALS) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve(signal);
      });
    }
  });
}
