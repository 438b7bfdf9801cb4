import { expect, it } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import { Event } from './event.ts';

const event = (parts: object, namespace = 'n') => ({
  metadata: { name: 'e.1', namespace },
  involvedObject: { kind: 'Pod', name: 'p', namespace },
  ...parts,
});
const newer = {
  eventTime: '2026-01-01T00:00:00.000001Z',
  reportingComponent: 'example.com/x',
  reportingInstance: 'x-1',
  action: 'Run',
  reason: 'Ran',
};
const ELSEWHERE = (namespace: string) =>
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`;

it('an Event of the older form keeps its times and its count', () => {
  const parts = { firstTimestamp: '2026-01-01T00:00:00Z', count: 3, type: 'Normal', source: { component: 'c' } };
  const { object, errors } = create(Event, event(parts));
  expect(errors).toEqual([]);
  expect(object).toEqual({ ...event(parts), reportingComponent: '', reportingInstance: '' });
});

it('an Event of the newer form keeps microseconds and its series', () => {
  const series = { count: 2, lastObservedTime: '2026-01-01T00:00:01.500000Z' };
  const { object, errors } = create(Event, event({ ...newer, series }));
  expect(errors).toEqual([]);
  expect(object).toEqual({ ...event({ ...newer, series }), source: {} });
});

it.each<[string, object, string[]]>([
  ['elsewhere', event({ involvedObject: { namespace: 'm' } }), [ELSEWHERE('m')]],
  ['of nothing', event({ involvedObject: {} }), [ELSEWHERE('')]],
  ['of a node', event({ involvedObject: { kind: 'Node' } }, 'default'), []],
  ['of a node, newer', event({ ...newer, involvedObject: { kind: 'Node' } }, 'kube-system'), []],
  ['of a node, older', event({ involvedObject: { kind: 'Node' } }, 'kube-system'), [ELSEWHERE('')]],
  [
    'by nobody',
    event({ eventTime: newer.eventTime }),
    [
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
      "reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Required value',
    ],
  ],
  [
    'that talks',
    event({ ...newer, reason: 'x'.repeat(129), message: 'x'.repeat(1025) }),
    [
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ],
  ],
])('an Event: %s is judged', (_what, input, errors) => {
  expect(create(Event, input).errors).toEqual(errors);
});

it('an Event can be found by what it tells of and by who tells it', () => {
  const { object } = create(Event, event({ ...newer, type: 'Warning' }));
  const fields = Object.fromEntries(Object.entries(Event.selectable ?? {}).map(([name, of]) => [name, of(object)]));
  expect(fields).toEqual({
    'involvedObject.kind': 'Pod',
    'involvedObject.namespace': 'n',
    'involvedObject.name': 'p',
    'involvedObject.uid': '',
    'involvedObject.apiVersion': '',
    'involvedObject.resourceVersion': '',
    'involvedObject.fieldPath': '',
    reason: 'Ran',
    reportingComponent: 'example.com/x',
    source: 'example.com/x',
    type: 'Warning',
  });
});
