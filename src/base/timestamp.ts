let second = Number.NaN;
let text = '';

/** Formats a time as objects have it: RFC 3339 in UTC, in whole seconds. The last second is cached. */
export function timestamp(time: Date | number): string {
  const wanted = Math.floor(Number(time) / 1000);
  if (wanted !== second) {
    text = `${new Date(wanted * 1000).toISOString().slice(0, 19)}Z`;
    second = wanted;
  }
  return text;
}

/** Formats a time as leases have it: RFC 3339 in UTC, with microseconds. */
export function microTimestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000Z`;
}
