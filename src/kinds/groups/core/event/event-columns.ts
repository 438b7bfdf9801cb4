import { type ColumnList, name, type Sparse, wide } from '../../../columns/column.ts';
import { elapsed } from '../../../columns/elapsed.ts';
import type { StoredEvent as Event } from '../../events/event.ts';

export const eventColumns: ColumnList<Event> = ({ text }) => [
  text('Last Seen', 'Time since the most recent occurrence.', lastSeen),
  text('Type', 'Severity: Normal or Warning.', ({ type }) => type ?? ''),
  text('Reason', 'Cause of the event, in one word.', ({ reason }) => reason ?? ''),
  text('Object', 'Object that the event is about.', ({ involvedObject }) => {
    const kind = (involvedObject?.kind ?? '').toLowerCase();
    return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
  }),
  wide(
    text(
      'Subobject',
      'Part of the object that the event is about.',
      ({ involvedObject }) => involvedObject?.fieldPath ?? '',
    ),
  ),
  wide(text('Source', 'Component and node that reported the event.', sourceText)),
  text('Message', 'Description of the event.', ({ message }) => (message ?? '').trim()),
  wide(text('First Seen', 'Time since the first occurrence.', firstSeen)),
  wide(text('Count', 'Number of occurrences.', ({ series, count }) => (series ? (series.count ?? 0) : count || 1))),
  wide(name),
];

function firstSeen({ firstTimestamp, eventTime }: Sparse<Event>, now: number): string {
  return elapsed(firstTimestamp ?? eventTime, now);
}

function lastSeen(event: Sparse<Event>, now: number): string {
  if (event.series) return elapsed(event.series.lastObservedTime, now);
  return event.lastTimestamp ? elapsed(event.lastTimestamp, now) : firstSeen(event, now);
}

function sourceText({ source, reportingComponent, reportingInstance }: Sparse<Event>): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}
