/** Restart back-off of containers: 10 seconds, doubled after every failure, up to 5 minutes. */
interface FailureCount {
  failures: number;
}

const INITIAL_DELAY_MS = 10_000;
const MAX_DELAY_MS = 300_000;
/** A container that ran this long starts over. */
const RESET_AFTER_MS = 600_000;

/** Returns the delay after a crash, which is 0 the first time, and counts the failure. */
export function crashDelay(run: FailureCount, ranMs: number): number {
  if (ranMs >= RESET_AFTER_MS) run.failures = 0;
  return delayAfter(run.failures++);
}

/** Returns the delay after a failed pull; 0 failures: until the back-off begins. */
export function pullDelay(failures: number): number {
  return failures === 0 ? 1_000 : delayAfter(failures);
}

/** Returns the delay after that many failures in a row. */
export function delayAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** Math.min(failures - 1, 10));
}
