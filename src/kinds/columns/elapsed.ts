const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The time since `time` in human-readable form; `now` in milliseconds since 1970. */
export function elapsed(time: string | null | undefined, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : '<unknown>';
}

/** A duration in its one or two largest units: `75s`, `3m20s`, `5h12m`, `3d4h`, `400d`, `3y10d`. */
export function humanDuration(milliseconds: number): string {
  // Clocks differ: up to two seconds in the future counts as now.
  if (milliseconds <= -2 * SECOND || Number.isNaN(milliseconds)) return '<invalid>';
  const duration = Math.max(0, milliseconds);
  if (duration < 2 * MINUTE) return `${whole(duration, SECOND)}s`;
  if (duration < 10 * MINUTE) return parts(duration, [MINUTE, 'm'], [SECOND, 's']);
  if (duration < 3 * HOUR) return `${whole(duration, MINUTE)}m`;
  if (duration < 8 * HOUR) return parts(duration, [HOUR, 'h'], [MINUTE, 'm']);
  if (duration < 2 * DAY) return `${whole(duration, HOUR)}h`;
  if (duration < 8 * DAY) return parts(duration, [DAY, 'd'], [HOUR, 'h']);
  if (duration < 2 * YEAR) return `${whole(duration, DAY)}d`;
  if (duration < 8 * YEAR) return parts(duration, [YEAR, 'y'], [DAY, 'd']);
  return `${whole(duration, YEAR)}y`;
}

type Unit = readonly [milliseconds: number, letter: string];

function parts(duration: number, [large, letter]: Unit, [small, smallLetter]: Unit): string {
  const rest = whole(duration % large, small);
  return `${whole(duration, large)}${letter}${rest > 0 ? `${rest}${smallLetter}` : ''}`;
}

function whole(duration: number, unit: number): number {
  return Math.floor(duration / unit);
}
