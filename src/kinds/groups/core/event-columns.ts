import { type Column, name, text, wide } from '../../columns/column.ts';
import { elapsed } from '../../columns/elapsed.ts';

export const eventColumns: readonly Column[] = [
  text('Last Seen', 'When it happened last.', lastSeen),
  text('Type', 'Normal or Warning.', ({ type }) => type ?? ''),
  text('Reason', 'What happened, in one word.', ({ reason }) => reason ?? ''),
  text('Object', 'What it happened to.', ({ involvedObject }) => {
    const kind = (involvedObject?.kind ?? '').toLowerCase();
    return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
  }),
  wide(text('Subobject', 'The part it happened to.', ({ involvedObject }) => involvedObject?.fieldPath ?? '')),
  wide(text('Source', 'Who saw it, and where.', sourceText)),
  text('Message', 'What happened, for people.', ({ message }) => (message ?? '').trim()),
  wide(text('First Seen', 'When it happened first.', firstSeen)),
  wide(text('Count', 'How often it has happened.', ({ series, count }) => (series ? (series.count ?? 0) : count || 1))),
  wide(name),
];

function firstSeen({ firstTimestamp, eventTime }: any, now: number): string {
  return elapsed(firstTimestamp ?? eventTime, now);
}

function lastSeen(event: any, now: number): string {
  if (event.series) return elapsed(event.series.lastObservedTime, now);
  return event.lastTimestamp ? elapsed(event.lastTimestamp, now) : firstSeen(event, now);
}

function sourceText({ source, reportingComponent, reportingInstance }: any): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}
