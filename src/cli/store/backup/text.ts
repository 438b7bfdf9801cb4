/** Sizes and ages for people. */
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const UNIT = 1024;

export function bytesText(bytes: number): string {
  let power = 0;
  let size = bytes;
  for (; size >= UNIT && power < UNITS.length - 1; power++) size /= UNIT;
  return `${power === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${UNITS[power]}`;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_HOURS = 24;

/** As kubectl shows ages: in the largest unit of which there are two. */
export function ageText(milliseconds: number): string {
  const minutes = Math.floor(Math.max(0, milliseconds) / MINUTE_MS);
  const hours = Math.floor(minutes / HOUR_MINUTES);
  if (hours >= 2 * DAY_HOURS) return `${Math.floor(hours / DAY_HOURS)}d`;
  return hours >= 2 ? `${hours}h` : `${minutes}m`;
}
