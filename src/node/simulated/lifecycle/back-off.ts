/** How long a container waits that fails again and again: 10 seconds, then twice as long every time, up to 5 minutes. */
interface Failing {
  failures: number;
}

const FIRST = 10_000;
const LONGEST = 300_000;
/** One that ran this long before it failed has recovered. */
const RECOVERED = 600_000;

/** After an end: at once the first time. Counts it. */
export function crashDelay(run: Failing, ran: number): number {
  if (ran >= RECOVERED) run.failures = 0;
  return delayAfter(run.failures++);
}

/** After an image could not be fetched for the so-manieth time; 0: until the first back-off. */
export function pullDelay(failures: number): number {
  return failures === 0 ? 1_000 : delayAfter(failures);
}

/** After the so-manieth failure in a row, counted from 0. */
export function delayAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST, FIRST * 2 ** Math.min(failures - 1, 10));
}
