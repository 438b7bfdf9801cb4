import { expect, it } from 'vitest';
import type { ObjectChange } from '../../api/past.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { changeLines } from './history.ts';

const object = (color: string, phase: string) => ({ metadata: { name: 'a' }, data: { color }, status: { phase } });
const common = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', name: 'a' };
const changes: readonly ObjectChange[] = [
  { ...common, time: 'T3', resourceVersion: '7', type: 'deleted', user: 'joe' },
  {
    ...{ ...common, time: 'T2', resourceVersion: '6', type: 'updated', user: 'joe' },
    ...{ client: 'kubectl/v1\u001b[2J', fieldManager: 'kubectl-edit', requestID: 'r1' },
    object: object('blue', 'Ready') as unknown as KubeObject,
  },
  {
    ...{ ...common, time: 'T1', resourceVersion: '5', type: 'updated', user: undefined },
    object: object('red', 'New') as unknown as KubeObject,
    before: object('green', 'New') as unknown as KubeObject,
  },
];

it('prints who changed an object, and its fields, without what could control the terminal', () => {
  expect(changeLines(changes, false)).toEqual([
    'T3 deleted by joe, version 7',
    'T2 updated by joe, version 6 (manager kubectl-edit, client kubectl/v1 [2J, request r1)',
    '  - data.color: "red"',
    '  + data.color: "blue"',
    'T1 updated, version 5',
    '  - data.color: "green"',
    '  + data.color: "red"',
  ]);
});

it('prints the status when it is asked for', () => {
  expect(changeLines(changes, true)).toContain('  + status.phase: "Ready"');
});
