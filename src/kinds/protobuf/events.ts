import type { FieldNumbers } from './field-numbers.ts';

export const events: FieldNumbers = {
  'events.k8s.io/v1': {
    Event:
      'metadata eventTime series reportingController reportingInstance action reason regarding related note type deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp deprecatedCount',
    EventSeries: 'count lastObservedTime',
  },
};
