import { head, labelsOf } from '../metrics/text.ts';
import type { Level } from './level.ts';
import type { Schemas } from './schemas.ts';

const PREFIX = 'apiserver_flowcontrol_';

const GAUGES: readonly [name: string, help: string, value: (level: Level) => number][] = [
  ['nominal_limit_seats', 'Seats that a level has by its share.', ({ bounds }) => bounds.nominal],
  ['lower_limit_seats', 'Seats that a level never lends.', ({ bounds }) => bounds.lower],
  ['upper_limit_seats', 'Seats that a level has with all it may borrow.', ({ bounds }) => bounds.upper],
  ['current_executing_seats', 'Seats that are in use.', ({ executing }) => executing],
  ['current_executing_requests', 'Requests that have a seat.', ({ running }) => running],
  ['current_inqueue_requests', 'Requests that wait for a seat.', ({ waiting }) => waiting],
];

/** What there is to say of levels and schemas, in the text form of Prometheus. */
export function* flowLines(schemas: Schemas, parked: number): Generator<string> {
  const { all } = schemas;
  for (const [name, help, value] of GAUGES) {
    yield head(PREFIX + name, 'gauge', help);
    for (const level of schemas.levels) {
      yield `${PREFIX}${name}{${labelsOf({ priority_level: level.name })}} ${value(level)}`;
    }
  }
  yield head(`${PREFIX}dispatched_requests_total`, 'counter', 'Requests that got a seat.');
  for (const schema of all) {
    yield `${PREFIX}dispatched_requests_total{${labels(schema)}} ${schema.counts.dispatched}`;
  }
  yield head(`${PREFIX}rejected_requests_total`, 'counter', 'Requests that were answered with 429.');
  for (const schema of all) {
    for (const [reason, count] of schema.counts.refusals) {
      yield `${PREFIX}rejected_requests_total{${labels(schema)},reason="${reason}"} ${count}`;
    }
  }
  yield head(`${PREFIX}request_wait_duration_seconds`, 'histogram', 'Seconds that requests waited for a seat.');
  for (const schema of all) {
    yield* schema.counts.waits.lines(`${PREFIX}request_wait_duration_seconds`, `execute="true",${labels(schema)}`);
  }
  yield head(`${PREFIX}requests_waiting_for_turn`, 'gauge', 'Requests that wait for the next turn of the loop.');
  yield `${PREFIX}requests_waiting_for_turn ${parked}`;
}

function labels({ name, level }: { readonly name: string; readonly level: Level }): string {
  return labelsOf({ flow_schema: name, priority_level: level.name });
}
