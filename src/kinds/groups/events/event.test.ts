import { describe, expect, test } from 'vitest';
import { create, received, shown, update } from '../../../../test/support/kinds/test-object.ts';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { decode } from '../../../schema/decode/decode.ts';
import { Event } from '../core/event/event.ts';

const apiVersion = 'events.k8s.io/v1';

const event = (parts: object = {}, name = 'e.1') => ({
  metadata: { name, namespace: 'n' },
  eventTime: '2026-01-01T00:00:00.000001Z',
  reportingController: 'example.com/x',
  reportingInstance: 'x-1',
  action: 'Run',
  reason: 'Ran',
  type: 'Normal',
  note: 'it ran',
  regarding: { kind: 'Pod', name: 'p', namespace: 'n' },
  ...parts,
});
const errorsOf = (parts: object, name?: string) => create(Event, event(parts, name), { apiVersion }).errors;

describe('names', () => {
  test('are those of the core group in the stored version', () => {
    const { object, errors } = create(Event, event(), { apiVersion });
    expect(errors).toEqual([]);
    expect(object).toEqual({
      metadata: { name: 'e.1', namespace: 'n' },
      eventTime: '2026-01-01T00:00:00.000001Z',
      reportingComponent: 'example.com/x',
      reportingInstance: 'x-1',
      action: 'Run',
      reason: 'Ran',
      type: 'Normal',
      message: 'it ran',
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'n' },
      source: {},
    });
  });

  test('of fields of the older form begin with deprecated', () => {
    const older = {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: 'e' },
      message: 'm',
      count: 3,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-02T00:00:00Z',
      source: { component: 'c' },
      series: { lastObservedTime: '2026-01-01T00:00:00.000001Z' },
    };
    expect(shown(Event, decode(Event.hub.schema, older), apiVersion)).toEqual({
      kind: 'Event',
      apiVersion,
      metadata: { name: 'e' },
      note: 'm',
      regarding: {},
      deprecatedCount: 3,
      deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
      deprecatedLastTimestamp: '2026-01-02T00:00:00Z',
      deprecatedSource: { component: 'c' },
      series: { count: 0, lastObservedTime: '2026-01-01T00:00:00.000001Z' },
    });
  });

  test('of the core group are unknown in this version', () => {
    const unknown: string[] = [];
    const newer = Event.versions.find((version) => version.apiVersion === apiVersion)!;
    decode(newer.schema, { message: 'm', involvedObject: {} }, { unknown: (path) => unknown.push(path) });
    expect(unknown).toEqual(['message', 'involvedObject']);
  });

  test('of field selectors are renamed, too', () => {
    const newer = Event.versions.find((version) => version.apiVersion === apiVersion)!;
    const { object } = create(Event, event(), { apiVersion });
    const fields = Object.entries(newer.selectable ?? {}).map(([name, of]) => [name, of(object)]);
    expect(Object.fromEntries(fields)).toEqual({
      'regarding.kind': 'Pod',
      'regarding.namespace': 'n',
      'regarding.name': 'p',
      'regarding.uid': '',
      'regarding.apiVersion': '',
      'regarding.resourceVersion': '',
      'regarding.fieldPath': '',
      reason: 'Ran',
      reportingController: 'example.com/x',
      type: 'Normal',
    });
  });
});

test.each<[object, string[]]>([
  [{ series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.500000Z' } }, []],
  [
    { series: { count: 1 } },
    ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  ],
  [{ eventTime: null }, ['eventTime: Required value']],
  [{ type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
  [{ type: '' }, ['type: Invalid value: "": has invalid value: ']],
  [
    {
      deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
      deprecatedLastTimestamp: '2026-01-01T00:00:00Z',
      deprecatedCount: 1,
      deprecatedSource: { host: 'h' },
    },
    ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map(
      (field) => `${field}: Invalid value: "": needs to be unset`,
    ),
  ],
  [
    { reportingController: 'a b' },
    [expect.stringMatching(/^reportingController: Invalid value: "a b": name part must consist of/)],
  ],
])('an event created in this version: %j', (parts, errors) => {
  expect(errorsOf(parts)).toEqual(errors);
});

test('an event created in this version must have a DNS subdomain as its name', () => {
  expect(errorsOf({}, 'E_1')).toEqual([
    expect.stringMatching(/^metadata.name: Invalid value: "E_1": a lowercase RFC 1123 subdomain/),
  ]);
  expect(create(Event, { metadata: { name: 'E_1', namespace: 'default' } }).errors).toEqual([]);
});

describe('a change', () => {
  const old = create(Event, event(), { apiVersion }).object;
  const changed = (parts: object) => update(Event, old, event(parts), { apiVersion }).errors;

  test('of the series is allowed', () => {
    expect(changed({ series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.500000Z' } })).toEqual([]);
    expect(changed({ series: { count: 0, lastObservedTime: '2026-01-01T00:00:01.500000Z' } })).toEqual([
      'series.count: Invalid value: "": should be at least 2',
    ]);
  });

  test('of anything else is rejected', () => {
    expect(changed({ note: 'it walked', type: 'Warning', related: { name: 'q' }, reportingController: 'y' })).toEqual([
      'message: Invalid value: "it walked": field is immutable',
      'type: Invalid value: "Warning": field is immutable',
      'related: Invalid value: {"name":"q"}: field is immutable',
      'reportingController: Invalid value: "y": field is immutable',
    ]);
  });

  test('is unrestricted in the core group', () => {
    const { metadata, involvedObject } = old;
    expect(update(Event, old, { metadata, involvedObject, message: 'it walked', count: 2 }).errors).toEqual([]);
  });
});

const text = fc.constantFrom('', 'a', 'b');
const time = fc.constantFrom('2026-01-01T00:00:00Z', undefined);
const microTime = fc.constantFrom('2026-01-01T00:00:00.000001Z', undefined);
const count = fc.nat(2);
const reference = fc.record({ kind: text, name: text });

test('conversion in both directions loses nothing', () => {
  const anyEvent = fc.record({
    metadata: fc.constant({ name: 'e' }),
    involvedObject: reference,
    related: fc.option(reference, { nil: undefined }),
    reason: text,
    message: text,
    source: fc.record({ component: text, host: text }),
    firstTimestamp: time,
    lastTimestamp: time,
    eventTime: microTime,
    count,
    type: text,
    series: fc.option(fc.record({ count, lastObservedTime: microTime }), { nil: undefined }),
    action: text,
    reportingComponent: text,
    reportingInstance: text,
  });
  forAll({ numRuns: 300 }, anyEvent, (body) => {
    const stored = decode(Event.hub.schema, { kind: 'Event', apiVersion: 'v1', ...body });
    const view = JSON.parse(JSON.stringify(shown(Event, stored, apiVersion)));
    expect(received(Event, view, apiVersion)).toStrictEqual(stored);
    expect(shown(Event, received(Event, view, apiVersion), apiVersion)).toStrictEqual(view);
  });
});
