import type { CallOptions } from '../../../api/call.ts';

const OBJECTS_PER_SEAT = 100;
const MAX_SEATS = 10;

/** Estimates the seats of a list, or of a watch that begins with one: more for more objects. */
export function estimateSeats(verb: 'list' | 'watch', options: CallOptions, count: () => number): number {
  const { resourceVersion, sendInitialEvents, limit, labelSelector, fieldSelector } = options;
  // A watch that starts at a resource version does not begin with a list.
  if (verb === 'watch' && !sendInitialEvents && resourceVersion && resourceVersion !== '0') return 1;
  // With a selector, all objects are examined, however few match.
  const examined = limit && !labelSelector && !fieldSelector ? Math.min(limit, count()) : count();
  return Math.max(1, Math.min(MAX_SEATS, Math.ceil(examined / OBJECTS_PER_SEAT)));
}
