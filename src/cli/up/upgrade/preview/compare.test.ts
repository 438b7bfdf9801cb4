import { expect, test } from 'vitest';
import type { ObjectChange } from './changes.ts';
import { differenceOf } from './compare.ts';
import { type CopyResult, NO_FINDINGS } from './messages.ts';

const NOTHING: CopyResult = { ...NO_FINDINGS, version: '0.1.0', level: 1 };
const changed = (...fields: string[]): ObjectChange => ({
  action: 'changed',
  kind: 'v1 Node',
  namespace: '',
  name: 'n',
  fields,
  moreFields: 0,
});
const of = (next: Partial<CopyResult>, present?: Partial<CopyResult>) =>
  differenceOf({ ...NOTHING, ...next }, present && { ...NOTHING, ...present });

test('a change that both releases make is counted only, whatever time and uid it has', () => {
  const at = (time: string, uid: string) => changed('- status.ready: true', `+ at: "${time}"`, `+ uid: "${uid}"`);
  const next = at('2030-01-01T00:00:09Z', '9d10b7a9-7b98-4dea-bb74-1b52cdaf5cc1');
  const present = at('2030-01-01T00:00:02.123456Z', '1d10b7a9-7b98-4dea-bb74-1b52cdaf5cc2');
  expect(of({ changes: [next] }, { changes: [present] })).toMatchObject({ changes: [], alike: 1 });
});

test('another value, another field, and another object are differences', () => {
  const present = { changes: [changed('- x: 1', '+ x: 2')] };
  for (const change of [
    changed('- x: 1', '+ x: 3'),
    changed('- x: 1', '+ x: 2', '+ y: 1'),
    { ...changed('- x: 1', '+ x: 2'), name: 'm' },
    { ...changed('- x: 1', '+ x: 2'), action: 'created' as const },
  ]) {
    expect(of({ changes: [change] }, present)).toMatchObject({ changes: [change], alike: 0 });
  }
});

test('without a release to compare with, every change counts, and kinds are not compared', () => {
  const change = changed('- x: 1');
  expect(of({ changes: [change], apis: ['v1 Pod'] })).toEqual({
    changes: [change],
    alike: 0,
    unreadable: [],
    apis: undefined,
  });
});

test('what the present release cannot show either is no fault of the new one', () => {
  const [old, fresh] = ['/registry/a', '/registry/b'].map((key) => ({ key, reason: 'damaged' })) as [any, any];
  expect(of({ unreadable: [old, fresh] }, { unreadable: [old] }).unreadable).toEqual([fresh]);
});

test('kinds that appear and disappear are named', () => {
  expect(of({ apis: ['v1 Pod', 'b/v1 New'] }, { apis: ['v1 Pod', 'a/v1 Old'] }).apis).toEqual({
    added: ['b/v1 New'],
    removed: ['a/v1 Old'],
  });
});
