const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Resolves with the first signal to stop; a second one ends the process where it stands. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve(signal);
      });
    }
  });
}
