import type { CallOptions } from '../api.ts';

const OBJECTS_PER_SEAT = 100;
const MOST = 10;

/** How many seats a list, or a watch that begins with one, takes: many objects are more work than one. */
export function seatsForMany(verb: 'list' | 'watch', options: CallOptions, count: () => number): number {
  const { resourceVersion, sendInitialEvents, limit, labelSelector, fieldSelector } = options;
  // A watch that starts at a version sends nothing at first.
  if (verb === 'watch' && !sendInitialEvents && resourceVersion && resourceVersion !== '0') return 1;
  // To find some, all are looked at.
  const seen = limit && !labelSelector && !fieldSelector ? Math.min(limit, count()) : count();
  return Math.max(1, Math.min(MOST, Math.ceil(seen / OBJECTS_PER_SEAT)));
}
