import { head, labelsOf } from '../../../base/metrics/text.ts';
import type { FlowSchemas } from './flow-schemas.ts';
import type { PriorityLevel } from './priority-level.ts';

const PREFIX = 'apiserver_flowcontrol_';

const GAUGES: readonly [name: string, help: string, value: (level: PriorityLevel) => number][] = [
  ['nominal_limit_seats', 'Nominal number of seats of a priority level.', ({ limits }) => limits.nominal],
  ['lower_limit_seats', 'Number of seats that a priority level never lends.', ({ limits }) => limits.lower],
  [
    'upper_limit_seats',
    'Number of seats of a priority level including all it may borrow.',
    ({ limits }) => limits.upper,
  ],
  ['current_executing_seats', 'Number of seats in use.', ({ executingSeats }) => executingSeats],
  [
    'current_executing_requests',
    'Number of requests that are executing.',
    ({ executingRequests }) => executingRequests,
  ],
  ['current_inqueue_requests', 'Number of requests that wait for a seat.', ({ waiting }) => waiting],
];

/** Metrics of priority levels and flow schemas, in Prometheus' text format. */
export function* flowControlMetrics(schemas: FlowSchemas, parked: number): Generator<string> {
  const { all } = schemas;
  for (const [name, help, value] of GAUGES) {
    yield head(PREFIX + name, 'gauge', help);
    for (const level of schemas.levels) {
      yield `${PREFIX}${name}{${labelsOf({ priority_level: level.name })}} ${value(level)}`;
    }
  }
  yield head(`${PREFIX}dispatched_requests_total`, 'counter', 'Number of requests that got a seat.');
  for (const schema of all) {
    yield `${PREFIX}dispatched_requests_total{${labels(schema)}} ${schema.counts.dispatched}`;
  }
  yield head(`${PREFIX}rejected_requests_total`, 'counter', 'Number of requests that were rejected with 429.');
  for (const schema of all) {
    for (const [reason, count] of schema.counts.rejections) {
      yield `${PREFIX}rejected_requests_total{${labels(schema)},reason="${reason}"} ${count}`;
    }
  }
  yield head(
    `${PREFIX}request_wait_duration_seconds`,
    'histogram',
    'Time that requests waited for a seat, in seconds.',
  );
  for (const schema of all) {
    yield* schema.counts.waits.lines(`${PREFIX}request_wait_duration_seconds`, `execute="true",${labels(schema)}`);
  }
  yield head(
    `${PREFIX}requests_waiting_for_turn`,
    'gauge',
    'Number of requests that wait for the next turn of the event loop.',
  );
  yield `${PREFIX}requests_waiting_for_turn ${parked}`;
}

function labels({ name, level }: { readonly name: string; readonly level: PriorityLevel }): string {
  return labelsOf({ flow_schema: name, priority_level: level.name });
}
