/**
 * Returns a function that tells how far local time in a zone is ahead of UTC at a time, in milliseconds. Throws when the
 * zone is unknown. Creating one takes a hundred times as long as using it.
 */
export function zoneOffsets(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (time) => {
    const parts: Record<string, number> = {};
    let isBeforeYear1 = false;
    for (const { type, value } of format.formatToParts(time)) {
      if (type === 'era') isBeforeYear1 = value.startsWith('B');
      else parts[type] = Number(value);
    }
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const local = dayStart(isBeforeYear1 ? 1 - year : year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000;
    return local - Math.floor(time / 1000) * 1000;
  };
}

/** The start of a day in UTC. `Date.UTC` takes the years 0 to 99 for those of the 20th century. */
export function dayStart(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}
