let second = Number.NaN;
let text = '';

/** The time as objects carry it: RFC 3339 in UTC, in whole seconds. Many are written in the same second. */
export function timestamp(time: Date | number): string {
  const asked = Math.floor(Number(time) / 1000);
  if (asked !== second) {
    second = asked;
    text = `${new Date(asked * 1000).toISOString().slice(0, 19)}Z`;
  }
  return text;
}

/** The time as leases carry it: RFC 3339 in UTC, with microseconds. */
export function microTimestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000Z`;
}
