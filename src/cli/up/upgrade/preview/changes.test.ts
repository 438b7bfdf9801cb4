import { expect, test } from 'vitest';
import type { Row } from '../../../../store/store.ts';
import { changesBetween } from './changes.ts';

const row = (key: string, revision: number, value: object): Row => ({
  key: `/registry/${key}`,
  revision,
  value: Buffer.from(JSON.stringify(value)),
});
const map = (revision: number, data: object, metadata: object = {}) =>
  row('core/configmaps/default/a', revision, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'a', ...metadata },
    data,
  });
const identity = { kind: 'v1 ConfigMap', namespace: 'default', name: 'a' };

test('objects that were created, changed and deleted are told apart', () => {
  const [before, after] = [map(3, { x: '1' }), map(5, { x: '2' })];
  expect(changesBetween([before], [after])).toEqual([
    { ...identity, action: 'changed', fields: ['- data.x: "1"', '+ data.x: "2"'], moreFields: 0 },
  ]);
  expect(changesBetween([before], [])).toEqual([{ ...identity, action: 'deleted', fields: [], moreFields: 0 }]);
  expect(changesBetween([], [after])).toMatchObject([{ ...identity, action: 'created' }]);
});

test('an object that was not written, or only its bookkeeping, has not changed', () => {
  expect(changesBetween([map(3, {})], [map(3, { other: 'not read' })])).toEqual([]);
  expect(changesBetween([map(3, {})], [map(4, {}, { managedFields: [{ manager: 'x' }], generation: 2 })])).toEqual([]);
});

test('values of Secrets are hidden', () => {
  const secret = (revision: number, token: string) =>
    row('core/secrets/default/s', revision, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 's' },
      data: { token, 'a:b': token },
    });
  const changes = changesBetween([secret(1, 'b2xk')], [secret(2, 'bmV3')]);
  expect(changes[0]?.fields).toContain('+ data.token: (hidden)');
  expect(JSON.stringify(changes)).not.toMatch(/b2xk|bmV3/);
});

test('generated names, events, and rows that are no objects', () => {
  const pod = row('core/pods/default/web-x7', 2, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'web-x7', generateName: 'web-' },
  });
  const event = row('core/events/default/e', 3, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' } });
  const setting = { key: '/quarterdeck/settings', revision: 4, value: Buffer.from('{"level":2}') };
  expect(changesBetween([], [pod, event, setting])).toMatchObject([
    { kind: 'v1 Pod', name: 'web-*' },
    { kind: '/quarterdeck/settings', name: '' },
  ]);
});

test('a large object is shown in part', () => {
  const data = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 'x'.repeat(1_000)]));
  const [change] = changesBetween([map(1, {})], [map(2, data)]);
  expect(change?.fields.length).toBe(40);
  expect(change?.moreFields).toBeGreaterThan(50);
  expect(Math.max(...change!.fields.map((line) => line.length))).toBeLessThan(250);
});
