/** The earliest time that RFC 3339 can express. */
export const MIN_TIME = Date.parse('0001-01-01T00:00:00Z');
export const MAX_TIME = Date.parse('9999-12-31T23:59:59Z');

let second = Number.NaN;
let text = '';

/** Formats a time for objects: RFC 3339 in UTC, in whole seconds, at most MAX_TIME. The last second is cached. */
export function timestamp(time: Date | number): string {
  const wanted = Math.floor(Number(time) / 1000);
  if (wanted !== second) {
    text = `${new Date(Math.min(wanted * 1000, MAX_TIME)).toISOString().slice(0, 19)}Z`;
    second = wanted;
  }
  return text;
}

/** Formats a time for leases: RFC 3339 in UTC, with microseconds. */
export function microTimestamp(time: number): string {
  return `${new Date(Math.min(time, MAX_TIME)).toISOString().slice(0, -1)}000Z`;
}
