/** Finds the run of a schedule that is due, among those that were not started. */

/** Returns the first run after a time; undefined when there is none. */
type NextRun = (after: number) => number | undefined;

export interface Due {
  /** The latest run that was due and not started. */
  readonly run: number | undefined;
  /** Approximate number of other runs that were missed within the deadline; they are not started. */
  readonly missed: number;
  /** Time of the next run. */
  readonly next: number;
}

interface Window {
  /** Runs up to this time are done. */
  readonly since: number;
  /** Runs before this time may not start any more. */
  readonly deadline: number;
  readonly now: number;
}

/** Returns the due run; undefined when the schedule has no further one. */
export function dueRun(next: NextRun, { since, deadline, now }: Window): Due | undefined {
  const first = next(since);
  if (first === undefined) return undefined;
  if (now < first) return { run: undefined, missed: 0, next: first };
  const second = next(first);
  if (second === undefined) return undefined;
  if (now < second) return { run: first, missed: 0, next: second };
  const step = second - first;
  const countFrom = (time: number) => Math.floor((now - time) / step) + 1;
  // However long the gap, only the runs near its end are enumerated.
  const all = countFrom(first);
  for (let span = 2; ; span *= 2) {
    const run = lastUntil(now, all > span ? first + (all - span - 1) * step : since, next);
    if (run === undefined) continue;
    return { run, missed: countFrom(Math.max(first, deadline)), next: next(run) ?? Number.POSITIVE_INFINITY };
  }
}

/**
 * Number of runs that are enumerated before the time is halved. Runs of an interval depend on the run before: they are
 * fewer.
 */
const MAX_ENUMERATED_RUNS = 100;

/** Returns the last run after a time and up to now. A calendar may have one every minute, for years. */
function lastUntil(now: number, after: number, next: NextRun): number | undefined {
  const runAfter = (time: number) => {
    const run = next(time);
    return run !== undefined && run <= now ? run : undefined;
  };
  let found = runAfter(after);
  for (let runs = 1; found !== undefined && runs < MAX_ENUMERATED_RUNS; runs++) {
    const run = runAfter(found);
    if (run === undefined) return found;
    found = run;
  }
  if (found === undefined) return undefined;
  /** Upper bound of the search: no run is later. */
  let end = now;
  while (found < end) {
    const middle: number = Math.floor((found + end) / 2);
    const run = runAfter(middle);
    if (run === undefined) end = middle;
    else found = run;
  }
  return found;
}
