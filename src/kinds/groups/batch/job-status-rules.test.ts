import { expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { Job } from './job.ts';

const kind: Kind<any> = Job;

const START = '2030-01-01T00:00:00Z';
const LATER = '2030-01-01T00:10:00Z';

const body = (spec: object = {}) => ({
  metadata: { name: 'a', uid: 'uid-1' },
  spec: { template: { spec: { containers: [{ name: 'main', image: 'x' }], restartPolicy: 'Never' } }, ...spec },
});

const conditions = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));

const complete = {
  startTime: START,
  completionTime: LATER,
  succeeded: 1,
  conditions: conditions('SuccessCriteriaMet', 'Complete'),
};
const failed = { startTime: START, failed: 1, conditions: conditions('FailureTarget', 'Failed') };

/** The errors of a status write on a Job with this spec and status. */
function write(status: object, { spec = {}, before = {} }: { spec?: object; before?: object } = {}): readonly string[] {
  const old = { ...create(kind, body(spec)).object, status: before };
  return update(kind, old, { ...body(spec), status }, { subresource: 'status' }).errors;
}

test.each([
  ['a start', { startTime: START, active: 1, ready: 1 }],
  ['an end', complete],
  ['a failure', failed],
])('%s is fine', (_, status) => {
  expect(write(status)).toEqual([]);
});

test.each<[string, object, string]>([
  [
    'no end and failure at once',
    { ...complete, conditions: conditions('SuccessCriteriaMet', 'Complete', 'Failed', 'FailureTarget') },
    'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
  ],
  [
    'no completion time',
    { ...complete, completionTime: undefined },
    'status.completionTime: Required value: completionTime is required for Complete jobs',
  ],
  [
    'a completion time without an end',
    { startTime: START, completionTime: LATER },
    `status.completionTime: Invalid value: "${LATER}": cannot set completionTime when there is no Complete=True condition`,
  ],
  [
    'an end before the start',
    { ...complete, startTime: LATER, completionTime: START },
    `status.completionTime: Invalid value: "${START}": must be equal to or after \`startTime\``,
  ],
  [
    'a failure nobody announced',
    { ...failed, conditions: conditions('Failed') },
    'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
  ],
  [
    'a success nobody announced',
    { ...complete, conditions: conditions('Complete') },
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  ],
  ['active pods', { ...complete, active: 1 }, 'status.active: Invalid value: 1: active>0 is invalid for finished job'],
  [
    'terminating pods',
    { ...complete, terminating: 1 },
    'status.terminating: Invalid value: 1: terminating>0 is invalid for finished job',
  ],
  [
    'uncounted pods',
    { ...complete, uncountedTerminatedPods: { succeeded: ['u1'] } },
    'status.uncountedTerminatedPods: Invalid value: {"succeeded":["u1"]}: must be empty for finished job',
  ],
  [
    'no start',
    { ...failed, startTime: undefined },
    'status.startTime: Required value: startTime is required for finished job',
  ],
])('a terminal condition needs a consistent status: %s', (_, status, error) => {
  expect(write(status)).toContain(error);
});

const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 5, backoffLimitPerIndex: 1 };

test.each<[object, object, ...string[]]>([
  [indexed, { completedIndexes: '0,2-4' }],
  [indexed, { completedIndexes: '0-1', failedIndexes: '2' }],
  [
    indexed,
    { completedIndexes: '5' },
    'status.completedIndexes: Invalid value: "5": error parsing completedIndexes: too large index: "5"',
  ],
  [
    indexed,
    { completedIndexes: '1-2-3' },
    'status.completedIndexes: Invalid value: "1-2-3": error parsing completedIndexes: the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
  ],
  [
    indexed,
    { failedIndexes: 'x' },
    'status.failedIndexes: Invalid value: "x": error parsing failedIndexes: cannot convert string to integer for index: "x"',
  ],
  [
    indexed,
    { completedIndexes: '0-2', failedIndexes: '2-3' },
    'status.failedIndexes: Invalid value: "2-3": failedIndexes and completedIndexes overlap at index: 2',
  ],
  [
    {},
    { completedIndexes: '0' },
    'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
  ],
  [
    {},
    { failedIndexes: '' },
    'status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
  ],
])('indexes: %j with %j', (spec, status, ...errors) => {
  expect(write(status, { spec })).toEqual(errors);
});

test.each<[string, object, object, string]>([
  ['failures', { failed: 2 }, { failed: 1 }, 'status.failed: Invalid value: 1: cannot decrease the failed counter'],
  ['successes', { succeeded: 2 }, {}, 'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter'],
  [
    'an end',
    complete,
    { ...complete, conditions: conditions('SuccessCriteriaMet'), completionTime: undefined },
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
  ],
  [
    'the announcement of success',
    { conditions: conditions('SuccessCriteriaMet') },
    {},
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ],
  [
    'the time of the end',
    complete,
    { ...complete, completionTime: '2030-01-01T00:20:00Z' },
    'status.completionTime: Invalid value: "2030-01-01T00:20:00Z": field is immutable',
  ],
  [
    'the time of the start',
    { startTime: START },
    { startTime: LATER },
    `status.startTime: Invalid value: "${LATER}": field is immutable for unsuspended job once set`,
  ],
])('reported state is not reverted: %s', (_, before, status, error) => {
  expect(write(status, { before })).toContain(error);
});

test('reported state is not reverted, but a resumed Job gets a new start time', () => {
  const before = { startTime: START, conditions: conditions('Suspended') };
  const status = { startTime: LATER, conditions: [{ type: 'Suspended', status: 'False' }] };
  expect(write(status, { before })).toEqual([]);
});

test('an existing inconsistency does not block other updates', () => {
  const before = { conditions: conditions('Complete'), active: 1 };
  expect(write({ ...before, terminating: 0 }, { before })).toEqual([]);
});

test('pods are counted once', () => {
  expect(write({ uncountedTerminatedPods: { succeeded: ['u1', ''], failed: ['u1'] } })).toEqual([
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "u1"',
  ]);
});

test('ready cannot exceed active', () => {
  expect(write({ ready: 2, active: 1 })).toEqual([
    'status.ready: Invalid value: 2: cannot set more ready pods than active',
  ]);
});
